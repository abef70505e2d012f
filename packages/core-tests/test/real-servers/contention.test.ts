import { ioredis } from "./harness/ioredis.ts";
import { contention } from "./rows/contention.ts";

contention(ioredis(10_000));
