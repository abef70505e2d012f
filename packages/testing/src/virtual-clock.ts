import type { Clock } from "@redlatch/core";
import { settle } from "./settle.ts";
import { type Timer, TimerHeap } from "./timer-heap.ts";

/** What {@link virtualClock} takes. */
export interface VirtualClockOptions {
  /**
   * Wall-clock time at the start, in milliseconds since the epoch.
   * @defaultValue 1_735_689_600_000 (2025-01-01T00:00:00Z)
   */
  readonly startWallMs?: number | undefined;
}

const NEW_YEAR_2025_MS = 1_735_689_600_000;

/** A clock that stands still until it is moved; see {@link virtualClock}. */
export class VirtualClock implements Clock {
  readonly #timers: TimerHeap = new TimerHeap();
  #nowMs = 0;
  /** Wall-clock time minus monotonic time. */
  #wallOffsetMs: number;
  #timersMade = 0;

  constructor(startWallMs: number) {
    this.#wallOffsetMs = startWallMs;
  }

  /** Monotonic milliseconds since the clock was made: the scale of {@link advanceTo}. */
  get now(): number {
    return this.#nowMs;
  }

  /** How many timers wait, background ones included. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** How many timers wait that would keep a process alive. */
  get foregroundTimers(): number {
    return [...this.#timers].filter(({ background }) => !background).length;
  }

  /** When the next timer is due, on the scale of {@link now}; undefined: none waits. */
  get nextTimerAtMs(): number | undefined {
    return this.#timers.first()?.atMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  after(delayMs: number, callback: () => void, background = false): () => void {
    const timer: Timer = {
      // Like setTimeout: what is no delay is none.
      atMs: this.#nowMs + (Number.isNaN(delayMs) ? 0 : Math.max(delayMs, 0)),
      order: this.#timersMade++,
      background,
      callback,
      index: -1,
    };
    this.#timers.add(timer);
    return () => {
      this.#timers.remove(timer);
    };
  }

  /**
   * Lets `ms` milliseconds pass: runs the timers due meanwhile by (time, order of creation), each at its
   * own time, and lets all promises settle before the first, between any two and after the last.
   *
   * @throws RangeError when `ms` is negative or no number; whatever a timer's callback throws
   */
  async advance(ms: number): Promise<void> {
    await this.advanceTo(this.#nowMs + duration(ms));
  }

  /** {@link advance} to a time on the scale of {@link now}; a time past only lets promises settle. */
  async advanceTo(atMs: number): Promise<void> {
    await settle();
    while ((this.nextTimerAtMs ?? Number.POSITIVE_INFINITY) <= atMs && this.runNext()) {
      await settle();
    }
    this.#nowMs = Math.max(this.#nowMs, atMs);
    await settle();
  }

  /**
   * Advances from timer to timer until the promise settles, and gives its outcome.
   *
   * @throws Error when it has not settled within `withinMs` (default: no limit), or can't, because no
   * timer is left
   */
  async runUntil<T>(promise: Promise<T>, withinMs: number = Number.POSITIVE_INFINITY): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    const endMs = this.#nowMs + withinMs;
    for (await settle(); !isSettled; await settle()) {
      const atMs = this.nextTimerAtMs ?? Number.POSITIVE_INFINITY;
      if (atMs > endMs || atMs === Number.POSITIVE_INFINITY) {
        const why = atMs > endMs ? `within ${withinMs} ms` : "and no timer is left that could help";
        throw new Error(`the promise has not settled ${why} (virtual time ${this.#nowMs} ms)`);
      }
      this.runNext();
    }
    return promise;
  }

  /**
   * Moves to the next timer and runs it, synchronously and without settling promises, for simulators.
   *
   * @returns false when no timer waits
   */
  runNext(): boolean {
    const timer = this.#timers.first();
    if (!timer || timer.atMs === Number.POSITIVE_INFINITY) {
      return false;
    }
    this.#timers.remove(timer);
    // A timer that became due while the clock was frozen runs late.
    this.#nowMs = Math.max(this.#nowMs, timer.atMs);
    timer.callback();
    return true;
  }

  /** Lets all promises settle without letting time pass. */
  settle(): Promise<void> {
    return settle();
  }

  /** Sets the wall clock forward, or back with a negative number; timers and monotonic time stay. */
  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /**
   * The machine sleeps for `ms` (laptop lid, suspended VM): the wall clock runs on, the monotonic clock
   * stands still, so that timers are late by as much.
   */
  suspend(ms: number): void {
    this.#wallOffsetMs += duration(ms);
  }

  /**
   * The process stands still for `ms` (SIGSTOP, a long garbage collection): both clocks run on, timers
   * that fall due run afterwards, with the next {@link advance} or {@link runNext}.
   */
  freeze(ms: number): void {
    this.#nowMs += duration(ms);
  }
}

/**
 * Makes a clock for the core's option `clock` and for {@link memoryNode}: time passes only when told to,
 * so that a test of an hour takes a millisecond and runs the same every time.
 *
 * Promises that wait for real I/O are not waited for.
 *
 * @example
 * ```ts
 * import { Redlock } from "@redlatch/core";
 * import { memoryNode, virtualClock } from "@redlatch/testing";
 *
 * const clock = virtualClock();
 * const nodes = [1, 2, 3].map(() => memoryNode({ clock }));
 * const redlock = new Redlock(nodes, { clock, ttlMs: 10_000 });
 * const lease = await clock.runUntil(redlock.acquire("invoice:42"));
 * await clock.advance(10_000);
 * console.log(lease.isHeld()); // false
 * ```
 */
export function virtualClock(options: VirtualClockOptions = {}): VirtualClock {
  return new VirtualClock(options.startWallMs ?? NEW_YEAR_2025_MS);
}

function duration(ms: number): number {
  if (!(ms >= 0)) {
    throw new RangeError(`ms must be a number of milliseconds >= 0, got ${ms}`);
  }
  return ms;
}
