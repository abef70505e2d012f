import type { RedlockError } from "./errors.ts";
import type { Vote } from "./vote.ts";

/** Every event and what its listeners get. */
export interface RedlockEvents {
  /** One attempt was decided. */
  attempt: {
    readonly resources: readonly string[];
    readonly verdict: "won" | "lost";
    readonly votes: readonly Vote[];
    readonly elapsedMs: number;
  };
  /** A lease was handed out. */
  acquired: {
    readonly resources: readonly string[];
    /** From the call to the lease, all waiting included. */
    readonly waitedMs: number;
    readonly attempts: number;
  };
  /** A lease got a later deadline. */
  extended: { readonly resources: readonly string[]; readonly remainingMs: number };
  /** A lease ended before it was released. */
  lost: { readonly resources: readonly string[]; readonly error: RedlockError };
  /** A lease was released; the outcome is what a majority could tell. */
  released: { readonly resources: readonly string[]; readonly outcome: ReleaseOutcome };
  /** A node that answered before (or was never asked) gave no usable answer. Once until it recovers. */
  nodeFailed: { readonly node: string; readonly cause: Error };
  /** A node that had failed answers again. */
  nodeRecovered: { readonly node: string };
  /** An acquisition did not succeed yet and waits: at most `delayMs` until it looks again. */
  waiting: { readonly resources: readonly string[]; readonly delayMs: number };
  /** A lease was garbage-collected while held: somebody forgot to release it. It runs out by itself. */
  unreleased: { readonly resources: readonly string[] };
}

/**
 * What became of a release: `released` (a majority deleted our keys), `expired` (they were somebody else's
 * or nobody's) or `unreachable` (too few nodes answered; it goes on in the background until the keys expire).
 */
export type ReleaseOutcome = "released" | "expired" | "unreachable";

type Listener<Name extends keyof RedlockEvents> = (event: RedlockEvents[Name]) => unknown;

/** Tells listeners what happened. A listener that throws or rejects changes nothing for anybody. */
export class Events {
  readonly #listeners = new Map<keyof RedlockEvents, Set<Listener<never>>>();

  on<Name extends keyof RedlockEvents>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    // A function of our own, so that the same listener added twice is two subscriptions.
    const subscription: Listener<Name> = (event) => listener(event);
    listeners.add(subscription);
    return () => {
      listeners.delete(subscription);
    };
  }

  emit<Name extends keyof RedlockEvents>(name: Name, event: RedlockEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        Promise.resolve((listener as Listener<Name>)(event)).catch(() => {});
      } catch {
        // As promised by `on`.
      }
    }
  }
}
