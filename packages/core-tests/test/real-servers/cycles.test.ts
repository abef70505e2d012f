import { ioredis } from "./harness/ioredis.ts";
import { cycles } from "./rows/cycles.ts";

cycles(ioredis(10_000));
