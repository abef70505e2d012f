import { matrix } from "../src/matrix.ts";
import { bun } from "../src/runtimes.ts";

matrix(bun, ["ioredis", "node-redis", "upstash", "fetch"]);
