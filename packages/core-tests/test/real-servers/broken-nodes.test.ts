import { ioredis } from "./harness/ioredis.ts";
import { brokenNodes } from "./rows/broken-nodes.ts";

brokenNodes(ioredis(10_000));
