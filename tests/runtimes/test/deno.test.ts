import { matrix } from "../src/matrix.ts";
import { deno } from "../src/runtimes.ts";

matrix(deno, ["ioredis", "node-redis", "upstash", "fetch"]);
