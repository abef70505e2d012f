export type { WallClock } from "./clock.ts";
export type { DumpedKey, MemoryNodeDump } from "./dump.ts";
export {
  type MemoryNode,
  type MemoryNodeOptions,
  type MemoryNodeSnapshot,
  memoryNode,
  type NodeReply,
  type Persistence,
} from "./memory-node.ts";
export type { MessageListener } from "./subscribers.ts";
export { type VirtualClock, type VirtualClockOptions, virtualClock } from "./virtual-clock.ts";
