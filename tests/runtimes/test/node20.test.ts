import { matrix } from "../src/matrix.ts";
import { thisNode } from "../src/runtimes.ts";

matrix(thisNode, ["ioredis", "node-redis", "upstash", "fetch"]);
