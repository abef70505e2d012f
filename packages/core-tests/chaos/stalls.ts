const TICK_MS = 10;
/** A timer may be late by less, which is nothing to forgive. */
const LEAST_STALL_MS = 50;

/** Measures how long this process did not run, suspended or starved: no library can keep a bound then. */
export class Stalls {
  #totalMs = 0;
  #seenMs: number = performance.now();
  readonly #ticking: NodeJS.Timeout = setInterval(() => this.#tick(), TICK_MS);

  /** In all, in milliseconds. */
  stalledMs(): number {
    this.#tick();
    return this.#totalMs;
  }

  stop(): void {
    clearInterval(this.#ticking);
  }

  #tick(): void {
    const nowMs = performance.now();
    const lateMs = nowMs - this.#seenMs - TICK_MS;
    if (lateMs >= LEAST_STALL_MS) this.#totalMs += lateMs;
    this.#seenMs = nowMs;
  }
}
