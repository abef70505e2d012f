import { ioredis } from "./harness/ioredis.ts";
import { killedNodes } from "./rows/killed-nodes.ts";

killedNodes(ioredis(10_000));
