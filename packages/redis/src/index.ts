export type { NodeRedisClient } from "./client.ts";
export { type NodeRedisNodeOptions, nodeRedisNode } from "./node-redis-node.ts";
