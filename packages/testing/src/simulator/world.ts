import type { Activity, Drain } from "./drain.ts";
import { EventHeap } from "./event-heap.ts";
import type { HistoryEntry, Violation } from "./history.ts";

/** A process whose code runs in turns: one callback, then all promises that settle by it. */
export interface Turns {
  readonly id: string;
  /** Called when a turn is over. */
  afterTurn(): void;
}

/** A simulation takes some thousands of events; this many mean that somebody tries again and again. */
const MAX_EVENTS = 300_000;

/** True time, what is going to happen, and what has happened. */
export class World implements Activity {
  nowMs = 0;
  active = false;
  /** The simulation has ended; what is still run, e.g. when a lease is garbage-collected, is not watched. */
  isOver = false;
  /** Whose code runs. */
  turn: Turns | undefined;
  readonly history: HistoryEntry[] = [];
  readonly violations: Violation[] = [];
  readonly #events = new EventHeap();
  readonly #drain: Drain;
  #executed = 0;
  #failure: Error | undefined;
  #isStuck = false;

  constructor(drain: Drain) {
    this.#drain = drain;
  }

  /** How many events have happened. */
  get events(): number {
    return this.#executed;
  }

  /** Has something happen; in the past means now. */
  at(atMs: number, run: () => void): void {
    if (atMs === Infinity) return;
    this.#events.add(Math.max(atMs, this.nowMs), run);
  }

  log(who: string, what: string, ...details: readonly (string | number)[]): void {
    if (this.isOver) return;
    this.history.push([this.nowMs, who, what, ...details]);
  }

  /** Notes a broken promise of the library. */
  violate(invariant: string, message: string, atMs: number = this.nowMs): void {
    if (this.isOver) return;
    this.violations.push({ invariant, message, atMs });
    this.log("!", invariant, message);
  }

  /** Starts a turn of a process; the promises that it settles run before the next event. */
  take(process: Turns, run: () => void): void {
    this.turn = process;
    run();
  }

  /** Notes that the code of a process runs, which it may only in its turn. */
  touch(process: Turns): void {
    if (this.turn !== process && !this.isOver) {
      this.#failure = new Error(`${process.id} ran outside its turn: microtasks were not drained`);
      throw this.#failure;
    }
    this.active = true;
  }

  /** Gives up: nothing more happens. */
  #giveUp(message: string): void {
    this.violate("progress", message);
    this.#isStuck = true;
  }

  /** Lets events happen until `done` says so or none is left. */
  async run(done: () => boolean): Promise<void> {
    while (!done() && !this.#isStuck) {
      const event = this.#events.take();
      if (!event) return;
      this.nowMs = event.atMs;
      if (++this.#executed > MAX_EVENTS) this.#giveUp(`there is no end after ${MAX_EVENTS} events`);
      event.run();
      if (!this.turn) continue;
      try {
        await this.#drain(this);
      } catch (error) {
        this.#giveUp(String(error));
      }
      this.turn.afterTurn();
      this.turn = undefined;
      if (this.#failure) throw this.#failure;
    }
  }
}
