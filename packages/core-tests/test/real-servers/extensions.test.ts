import { ioredis } from "./harness/ioredis.ts";
import { extensions } from "./rows/extensions.ts";

extensions(ioredis(10_000));
