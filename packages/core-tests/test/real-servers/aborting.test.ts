import { ioredis } from "./harness/ioredis.ts";
import { aborting } from "./rows/aborting.ts";

aborting(ioredis(10_000));
