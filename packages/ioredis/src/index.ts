export type { IoredisClient } from "./client.ts";
export { type IoredisNodeOptions, ioredisNode } from "./ioredis-node.ts";
