import { ioredis } from "./harness/ioredis.ts";
import { hungNodes } from "./rows/hung-nodes.ts";

hungNodes(ioredis(10_000));
