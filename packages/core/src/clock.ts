/** Time, as the core sees it. Injected for simulation; the default reads the globals at call time. */
export interface Clock {
  /** Milliseconds of a clock that never jumps (it may stand still while the machine sleeps). */
  monotonicMs(): number;
  /** Milliseconds since the epoch, by the wall clock. */
  wallMs(): number;
  /**
   * Calls back once, after `delayMs` (any size, also Infinity). A background timer keeps no process alive.
   *
   * @returns A function that cancels the timer.
   */
  after(delayMs: number, callback: () => void, background?: boolean): () => void;
}

/** One moment, read on both clocks. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Longer delays overflow a 32-bit timer and would fire at once. */
const MAX_STEP_MS = 2 ** 31 - 1;

// Read at call time, not captured: fake timers replace the globals.
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, callback, background = false) {
    let timer: unknown;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, MAX_STEP_MS);
      timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : callback()), stepMs);
      if (background) unref(timer);
    };
    arm(delayMs);
    return () => clearTimeout(timer as number);
  },
};

/** Node and Bun give a timer object, Deno a number, browsers and Workers have nothing to unref. */
function unref(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
  (globalThis as { Deno?: { unrefTimer?(id: unknown): void } }).Deno?.unrefTimer?.(timer);
}

export const instantOf = (clock: Clock): Instant => ({
  monotonicMs: clock.monotonicMs(),
  wallMs: clock.wallMs(),
});
