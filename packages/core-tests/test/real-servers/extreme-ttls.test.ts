import { ioredis } from "./harness/ioredis.ts";
import { extremeTtls } from "./rows/extreme-ttls.ts";

extremeTtls(ioredis(10_000));
