export { type Command, defineNode, type NodeExtras, type RedisNode, type SendOptions } from "./redis-node.ts";
