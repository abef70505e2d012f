import type { RedlockEvents } from "@redlatch/core";
import type { Operation, Operations } from "./operations.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** What the judge of waiting times has to know of the settings. */
export interface Backoff {
  readonly retryDelayMs: number;
  readonly retryJitter: number;
  readonly nodeTimeoutMs: number;
}

/** The wait doubles up to this many times its base. */
const MAX_GROWTH = 10;

/** Judges how long a client sleeps between attempts: neither a whole TTL for nothing, nor less than others need. */
export class WaitingTimes {
  readonly #world: World;
  readonly #operations: Operations;
  readonly #quorum: number;
  readonly #backoff: Backoff;
  readonly #tells: boolean;

  constructor(
    world: World,
    operations: Operations,
    quorum: number,
    backoff: Backoff,
    tells: boolean,
  ) {
    this.#tells = tells;
    this.#world = world;
    this.#operations = operations;
    this.#quorum = quorum;
    this.#backoff = backoff;
  }

  waits(process: Process, { delayMs }: RedlockEvents["waiting"], keys: readonly string[]): void {
    const waiting = this.#operations
      .queueOf(process)
      .find((each) => !each.isSettled && each.keys.join() === keys.join());
    const roundMs = waiting?.lastAttempt?.roundMs;
    if (!waiting || roundMs === undefined || this.#entersQueue(process, keys)) return;
    const { retryDelayMs, retryJitter, nodeTimeoutMs } = this.#backoff;
    // What is beyond the time limit was no round, but a process that stood still.
    const baseMs = Math.max(retryDelayMs, 2 * Math.min(roundMs, nodeTimeoutMs));
    const patienceMs = waiting.monotonicMs + waiting.waitMs - process.clock.monotonicNowMs();
    // A notice starts the backoff anew, and whoever was woken by it falls apart from others in steps of a round.
    const isCounted = waiting.isCounted && !this.#tells;
    const growth = Math.min(2 ** (waiting.attempts - 1), MAX_GROWTH);
    const shortestMs = baseMs * (isCounted ? growth : 1) * (1 - retryJitter);
    const leastMs = Math.min(
      this.#tells ? 2 * Math.min(roundMs, nodeTimeoutMs) : Infinity,
      shortestMs,
      patienceMs,
    );
    const mostMs = baseMs * (isCounted ? growth : MAX_GROWTH) * (1 + retryJitter);
    const holderMs = this.#holderMs(waiting);
    if (delayMs > mostMs + 0.01) this.#violate(process, delayMs, `at most ${mostMs.toFixed(2)}`);
    if (holderMs === undefined && delayMs < leastMs - 0.01) {
      this.#violate(process, delayMs, `at least ${leastMs.toFixed(2)} after a split vote`);
    }
    if (holderMs !== undefined && delayMs > holderMs + 2) {
      this.#violate(process, delayMs, `at most ${holderMs} as the holder's keys expire then`);
    }
  }

  /** Another call that has just come says that it waits for its turn. */
  #entersQueue(process: Process, keys: readonly string[]): boolean {
    const last = this.#operations
      .queueOf(process)
      .findLast((each) => !each.isSettled && each.keys.join() === keys.join());
    return last?.attempts === 0 && last.startedMs === process.ranMs;
  }

  /** How long the holder's keys live, where one and the same holder denied at a quorum of nodes. */
  #holderMs({ lastAttempt }: Operation): number | undefined {
    for (const left of lastAttempt?.denials.values() ?? []) {
      if (left.length >= this.#quorum) return Math.max(...left);
    }
    return undefined;
  }

  #violate(process: Process, delayMs: number, bound: string): void {
    const message = `${process.id} sleeps ${delayMs.toFixed(2)} ms between attempts, ${bound}`;
    this.#world.violate("waiting", message);
  }
}
