import { ioredis } from "./harness/ioredis.ts";
import { connections } from "./rows/connections.ts";

connections(ioredis(10_000));
