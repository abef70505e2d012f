import type { Attempt } from "./attempts.ts";
import type { Belief, Beliefs } from "./beliefs.ts";
import { LocalTurns } from "./local-turns.ts";
import { type Operation, type Operations, shareKey } from "./operations.ts";
import type { Process } from "./process.ts";
import type { ClientSettings } from "./settings.ts";
import type { World } from "./world.ts";

/** Judges the local queue: first in first out, and one competitor per process. */
export class LocalOrder {
  readonly #world: World;
  readonly #turns: LocalTurns;
  readonly #operations: Operations;
  readonly #settings: ClientSettings;
  readonly #won: Operation[] = [];
  readonly #begun: Attempt[] = [];

  constructor(world: World, beliefs: Beliefs, operations: Operations, settings: ClientSettings) {
    this.#world = world;
    this.#turns = new LocalTurns(world, beliefs, operations, settings.retryDelayMs);
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
  won(operation: Operation, belief: Belief): void {
    belief.localSinceMs = operation.localSinceMs ?? this.#world.nowMs;
    if (operation.kind === "acquire") this.#won.push(operation);
  }

  /** A call ended without a lease. */
  gaveUp(operation: Operation): void {
    if (operation.kind !== "acquire" || operation.attempts > 0 || operation.isBlocked) return;
    this.#turns.expectPrompt(operation);
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
    for (const operation of queue) if (operation.isBlocked) this.#turns.wasBlocked(operation);
    for (const attempt of this.#begun.splice(0)) {
      const mine = queue.find((each) => !each.isSettled && sameKeys(each.keys, attempt.keys));
      if (!mine) continue;
      // It may be the attempt of a tryAcquire, which goes past the queue.
      const isCertain = !this.#operations.isOpen("tryAcquire", process, attempt.keys);
      if (isCertain && mine.lastAttempt) {
        attempt.before = mine.lastAttempt;
        // That one was lost: others had their turn.
        mine.localSinceMs = undefined;
        this.#expectUndone(mine.lastAttempt, attempt);
      }
      mine.lastAttempt = isCertain ? attempt : undefined;
      if (mine.attempts++ === 0) this.#turns.expectPrompt(mine);
    }
    this.#turns.mark(queue);
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

  #violate(process: Process, keys: readonly string[], message: string): void {
    this.#world.violate("queue", `in ${process.id}, ${keys.join("+")} ${message}`);
  }
}

const sameKeys = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join();
