import { ioredis } from "./harness/ioredis.ts";
import { processes } from "./rows/processes.ts";

processes(ioredis(10_000));
