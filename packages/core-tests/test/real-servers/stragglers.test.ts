import { ioredis } from "./harness/ioredis.ts";
import { stragglers } from "./rows/stragglers.ts";

stragglers(ioredis(10_000));
