import type { Attempt } from "./attempts.ts";
import type { Beliefs } from "./beliefs.ts";
import { type Operation, type Operations, SLACK_MS, shareKey } from "./operations.ts";
import type { Process } from "./process.ts";
import type { ClientSettings } from "./settings.ts";
import type { World } from "./world.ts";

/** After so many retry delays without another holder, a process may hold back; the core counts up to 50. */
const LOCAL_STREAK = 45;

/** So many retry delays it holds back at the most: the longest backoff, with its jitter. */
const MAX_BACKOFF = 20;

/** Judges the local queue: first in first out, one competitor per process, and handed over at once. */
export class LocalOrder {
  readonly #world: World;
  readonly #beliefs: Beliefs;
  readonly #operations: Operations;
  readonly #settings: ClientSettings;
  readonly #won: Operation[] = [];
  readonly #streaks = new Map<Process, Map<string, number>>();
  readonly #begun: Attempt[] = [];

  constructor(world: World, beliefs: Beliefs, operations: Operations, settings: ClientSettings) {
    this.#world = world;
    this.#beliefs = beliefs;
    this.#operations = operations;
    this.#settings = settings;
  }

  /** A process starts an attempt. Whose it is can be told when the turn is over. */
  competes(attempt: Attempt, undecided: Iterable<Attempt>): void {
    const { process, keys } = attempt;
    this.#begun.push(attempt);
    if (this.#operations.isOpen("tryAcquire", process, keys)) return;
    for (const other of undecided) {
      if (other.process !== process || !shareKey(other.keys, keys)) continue;
      this.#violate(
        process,
        keys,
        `have two attempts of one process, ${attempt.token} and ${other.token}`,
      );
    }
  }

  /** A call got its lease; the others are looked at when the turn is over. */
  won(operation: Operation): void {
    const { process, keys, kind } = operation;
    if (kind === "acquire") this.#won.push(operation);
    const sinceMs = this.#streakSinceMs(process, keys);
    const streaks = this.#streaks.get(process) ?? new Map<string, number>();
    this.#streaks.set(process, streaks);
    for (const key of keys) streaks.set(key, sinceMs);
  }

  /** A call ended without a lease. */
  gaveUp(operation: Operation): void {
    if (operation.kind !== "acquire" || operation.attempts > 0 || operation.isBlocked) return;
    this.#expectPrompt(operation);
  }

  turnEnded(process: Process): void {
    const queue = this.#operations.queueOf(process);
    for (const winner of this.#won.splice(0)) {
      for (const earlier of queue) {
        if (earlier === winner) break;
        if (earlier.isSettled || !shareKey(earlier.keys, winner.keys)) continue;
        this.#violate(process, winner.keys, "were given to a later call before an earlier one");
      }
    }
    // It became free in this turn at the earliest.
    for (const operation of queue) if (operation.isBlocked) this.#noteBlocked(operation);
    for (const attempt of this.#begun.splice(0)) {
      const mine = queue.find((each) => !each.isSettled && sameKeys(each.keys, attempt.keys));
      if (!mine) continue;
      // It may be the attempt of a tryAcquire, which goes past the queue.
      const isCertain = !this.#operations.isOpen("tryAcquire", process, attempt.keys);
      if (isCertain && mine.lastAttempt) {
        attempt.before = mine.lastAttempt;
        this.#expectUndone(mine.lastAttempt, attempt);
      }
      mine.lastAttempt = isCertain ? attempt : undefined;
      // The attempt before was lost.
      if (mine.attempts > 0) for (const key of mine.keys) this.#streaks.get(process)?.delete(key);
      if (mine.attempts++ === 0) this.#expectPrompt(mine);
    }
    queue.forEach((operation, index) => {
      if (operation.isSettled || operation.attempts > 0) return;
      const isBehind = queue
        .slice(0, index)
        .some((earlier) => !earlier.isSettled && shareKey(earlier.keys, operation.keys));
      operation.isBlocked = isBehind || this.#isHeldHere(process, operation.keys);
    });
    this.#operations.sweep(process);
  }

  /** A node is sent the next attempt only after its answer to the undo, or the time limit. */
  #expectUndone(before: Attempt, attempt: Attempt): void {
    const { process, keys, token } = attempt;
    const asked = new Set(attempt.unanswered.values());
    const sinceMs = this.#world.nowMs - this.#settings.nodeTimeoutMs * 0.9;
    for (const [node, sentMs] of before.undo) {
      if (sentMs < sinceMs || !asked.has(node)) continue;
      const message = `are asked of ${node.id} by ${token} while ${before.token} is undone there`;
      this.#violate(process, keys, message);
    }
  }

  /** A lease holds its place until the outcome of its release is known. */
  #isHeldHere(process: Process, keys: readonly string[]): boolean {
    return (
      this.#beliefs.holds(process, keys) ||
      this.#operations.isOpen("release", process, keys) ||
      this.#operations.isOpen("using ends", process, keys)
    );
  }

  /** Since when a process has gone from lease to lease on any of the keys, without a lost attempt. */
  #streakSinceMs(process: Process, keys: readonly string[]): number {
    const streaks = this.#streaks.get(process);
    return Math.min(...keys.map((key) => streaks?.get(key) ?? this.#world.nowMs));
  }

  #noteBlocked(operation: Operation): void {
    const { process, keys } = operation;
    operation.blockedMs = process.ranMs;
    const streakMs = this.#world.nowMs - this.#streakSinceMs(process, keys);
    operation.holdsBack = streakMs > LOCAL_STREAK * this.#settings.retryDelayMs;
  }

  /** Whoever comes first competes at once; after many local hand-overs others get their turn before. */
  #expectPrompt({ process, keys, blockedMs, holdsBack }: Operation): void {
    const idleMs = process.ranMs - blockedMs;
    if (idleMs <= (holdsBack ? MAX_BACKOFF * this.#settings.retryDelayMs : 0) + SLACK_MS) return;
    this.#violate(
      process,
      keys,
      `were not competed for during ${idleMs.toFixed(2)} ms of its turn`,
    );
  }

  #violate(process: Process, keys: readonly string[], message: string): void {
    this.#world.violate("queue", `in ${process.id}, ${keys.join("+")} ${message}`);
  }
}

const sameKeys = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join();
