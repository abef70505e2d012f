import type { Beliefs } from "./beliefs.ts";
import { type Operation, type Operations, SLACK_MS, shareKey } from "./operations.ts";
import type { World } from "./world.ts";

/** After so many retry delays of leases in a row, a process may hold back; the core counts up to 50. */
const LOCAL_STREAK = 45;

/** So many retry delays it holds back at the most: the longest backoff, with its jitter. */
const MAX_BACKOFF = 20;

/** Judges whether a lock is handed over at once inside a process, from call to call. */
export class LocalTurns {
  readonly #world: World;
  readonly #beliefs: Beliefs;
  readonly #operations: Operations;
  readonly #retryDelayMs: number;

  constructor(world: World, beliefs: Beliefs, operations: Operations, retryDelayMs: number) {
    this.#world = world;
    this.#beliefs = beliefs;
    this.#operations = operations;
    this.#retryDelayMs = retryDelayMs;
  }

  /** Marks which calls of a queue have others before them, as a turn ends. */
  mark(queue: readonly Operation[]): void {
    queue.forEach((operation, index) => {
      if (operation.isSettled || operation.attempts > 0) return;
      const ahead = queue
        .slice(0, index)
        .filter((earlier) => !earlier.isSettled && shareKey(earlier.keys, operation.keys));
      operation.isBlocked = ahead.length > 0 || this.#isHeldHere(operation);
      const sinceMs = this.#localSinceMs(operation, ahead);
      if (sinceMs < Infinity) operation.localSinceMs = sinceMs;
      else if (ahead.length > 0) operation.localSinceMs = undefined;
    });
  }

  /** A call had others before it until now. */
  wasBlocked(operation: Operation): void {
    const { nowMs } = this.#world;
    const { process } = operation;
    operation.blockedMs = process.ranMs;
    const streakMs = nowMs - (operation.localSinceMs ?? nowMs);
    if (streakMs <= LOCAL_STREAK * this.#retryDelayMs) return;
    operation.holdsBackUntilMs = process.ranMs + MAX_BACKOFF * this.#retryDelayMs;
  }

  /** Whoever comes first competes at once; after many local hand-overs others get their turn before. */
  expectPrompt({ process, keys, blockedMs, holdsBackUntilMs }: Operation): void {
    const idleMs = process.ranMs - Math.max(blockedMs, holdsBackUntilMs);
    if (idleMs <= SLACK_MS) return;
    const message = `were not competed for during ${idleMs.toFixed(2)} ms of its turn`;
    this.#world.violate("queue", `in ${process.id}, ${keys.join("+")} ${message}`);
  }

  /** Since when those before it have passed the lock on inside the process. */
  #localSinceMs({ process, keys }: Operation, ahead: readonly Operation[]): number {
    let sinceMs = Math.min(...ahead.map(({ localSinceMs }) => localSinceMs ?? Infinity));
    for (const belief of this.#beliefs.of(process)) {
      if (shareKey(belief.keys, keys)) sinceMs = Math.min(sinceMs, belief.localSinceMs);
    }
    return sinceMs;
  }

  /** A lease holds its place until the outcome of its release is known. */
  #isHeldHere({ process, keys }: Operation): boolean {
    return (
      this.#beliefs.holds(process, keys) ||
      this.#operations.isOpen("release", process, keys) ||
      this.#operations.isOpen("using ends", process, keys)
    );
  }
}
