import { ioredis } from "./harness/ioredis.ts";
import { closing } from "./rows/closing.ts";

closing(ioredis(10_000));
