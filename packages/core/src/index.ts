export type { Clock } from "./clock.ts";
export {
  HoldLimitError,
  isRedlockError,
  LeaseLostError,
  QuorumUnreachableError,
  RedlockClosedError,
  RedlockError,
  type RedlockErrorCode,
  ResourceHeldError,
} from "./errors.ts";
export type { RedlockEvents, ReleaseOutcome } from "./events.ts";
export type { Addition } from "./extend.ts";
export type { Inspection, NodeInspection } from "./inspect.ts";
export type { Lease, LeaseHandle } from "./lease.ts";
export type { CallOptions, RedlockOptions, UsingOptions } from "./options.ts";
export {
  type Command,
  defineNode,
  type NodeExtras,
  type RedisNode,
  type SendOptions,
} from "./redis-node.ts";
export { Redlock, type TryUsingResult } from "./redlock.ts";
export type { Random } from "./token.ts";
export type { Work } from "./use-lease.ts";
export type { DeniedVote, FailedVote, GrantedVote, Vote } from "./vote.ts";
