import { ioredis } from "./harness/ioredis.ts";
import { scriptsAndRestarts } from "./rows/scripts-and-restarts.ts";

scriptsAndRestarts(ioredis(10_000));
