import { ioredis } from "./harness/ioredis.ts";
import { options } from "./rows/options.ts";

options(ioredis(10_000));
