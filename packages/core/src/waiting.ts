import { onAbort } from "./abort-listener.ts";
import type { Clock } from "./clock.ts";

/**
 * The caller's patience during one acquisition: ends by `waitMs`, by the caller's signal or by `close`.
 * Whatever is awaited through it ends at once when it is stopped.
 */
export class Waiting {
  readonly #clock: Clock;
  readonly #sinceMs: number;
  readonly #waitMs: number;
  /** Lets go of the caller's signal. */
  readonly end: () => void;
  #stopped: { readonly reason: unknown } | undefined;
  #interrupt: ((reason: unknown) => void) | undefined;

  constructor(clock: Clock, waitMs: number, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
    this.#waitMs = waitMs;
    this.end = signal ? onAbort(signal, () => this.stop(signal.reason)) : () => {};
  }

  /** How long this has taken so far, in milliseconds. */
  waitedMs(): number {
    return this.#clock.monotonicMs() - this.#sinceMs;
  }

  /** How much of `waitMs` is left, in milliseconds. */
  leftMs(): number {
    return Math.max(0, this.#waitMs - this.waitedMs());
  }

  /** Ends the wait: whatever is awaited rejects with `reason`. */
  stop(reason: unknown): void {
    this.#stopped ??= { reason };
    this.#interrupt?.(reason);
  }

  /** Throws the reason if the wait was stopped. */
  throwIfStopped(): void {
    if (this.#stopped) throw this.#stopped.reason;
  }

  /** Awaits `work` unless the wait is stopped first. */
  guard<Value>(work: Promise<Value>): Promise<Value> {
    return this.#interruptible((resolve, reject) => {
      work.then(resolve, reject);
      return () => {};
    });
  }

  /** Waits for `ms`, or until what `arm` was given is called. Resolves with whether it was. */
  pause(ms: number, arm?: (wake: () => void) => void): Promise<boolean> {
    return this.#interruptible((resolve) => {
      const cancel = this.#clock.after(ms, () => resolve(false));
      arm?.(() => {
        cancel();
        resolve(true);
      });
      return cancel;
    });
  }

  #interruptible<Value>(
    start: (resolve: (value: Value) => void, reject: (reason: unknown) => void) => () => void,
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(this.#stopped.reason);
      const cancel = start(resolve, reject);
      this.#interrupt = (reason) => {
        cancel();
        reject(reason);
      };
    });
  }
}
