import { matrix } from "../src/matrix.ts";
import { node } from "../src/runtimes.ts";

matrix(node(22), ["ioredis", "upstash"]);
