import { matrix } from "../src/matrix.ts";
import { node } from "../src/runtimes.ts";

matrix(node(24), ["ioredis", "upstash"]);
