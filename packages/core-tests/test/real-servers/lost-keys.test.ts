import { ioredis } from "./harness/ioredis.ts";
import { lostKeys } from "./rows/lost-keys.ts";

lostKeys(ioredis(10_000));
