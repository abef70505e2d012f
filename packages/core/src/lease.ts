import type { ReleaseOutcome } from "./events.ts";
import { type Addition, extend } from "./extend.ts";
import type { Hold } from "./hold.ts";
import type { ScopeEnd } from "./scope-end.ts";
import type { Vote } from "./vote.ts";

/** What `handOver` gives to another process, which adopts the lease with `restore`. Plain JSON. */
export interface LeaseHandle {
  readonly resources: readonly string[];
  readonly token: string;
  readonly owner?: string;
  /** The last TTL asked for, in milliseconds. */
  readonly ttlMs: number;
  /** When holding began, in milliseconds since the epoch: maxHoldMs and minHoldMs count from there. */
  readonly heldSinceMs: number;
}

/** A lock held until a deadline. Made by a Redlock, never by hand. */
export class Lease {
  readonly #hold: Hold;
  /** What is locked: sorted, without duplicates. */
  readonly resources: readonly string[];
  /** The random value that signs the lease's keys. */
  readonly token: string;
  /** @internal */
  constructor(hold: Hold) {
    this.#hold = hold;
    this.resources = hold.grant.resources;
    this.token = hold.grant.token;
    forgotten?.register(this, hold);
  }

  /**
   * Aborts when the lease is lost, at its deadline at the latest (LeaseLostError), at maxHoldMs
   * (HoldLimitError), at `close()` (RedlockClosedError), in `using` also by the caller's signal. Not by
   * `release()` or `handOver()`. A blocked event loop or a suspended process hears of it late: see {@link Lease.assertHeld}.
   */
  get signal(): AbortSignal {
    return this.#hold.cutoff.signal;
  }

  /** Until when the lease is ours, in milliseconds since the epoch. Extension moves it, never back. */
  get deadline(): number {
    return this.#hold.deadline.wallMs;
  }

  /** What each node said to the acquisition; grows as stragglers answer. */
  get votes(): readonly Vote[] {
    return this.#hold.grant.votes();
  }

  /** How long the lease lasts, in milliseconds: 0 once it is lost, released or handed over. Reads both clocks. */
  remainingMs(): number {
    return this.#hold.remainingMs();
  }

  /** Whether the lease is ours at this moment. Reads both clocks, so it is right where timers are late. */
  isHeld(): boolean {
    return this.#hold.isHeld();
  }

  /**
   * Throws unless the lease is ours at this moment. What follows it can still be late: a process may be
   * paused right after any check, and only the resource itself can refuse such a writer.
   *
   * @throws LeaseLostError (LEASE_LOST) when the deadline has passed, the keys are gone, or the lease was
   * released or handed over.
   */
  assertHeld(): void {
    if (!this.#hold.isHeld()) throw this.#hold.whyNotHeld();
  }

  /**
   * Extends this lease to live another `ttlMs` from now, or `addMs` longer than it would.
   * Never shortens it. The TTL
   * asked for last is the one that automatic extension goes on with.
   *
   * @param by - The TTL in milliseconds (an integer of at least 10), or `{ addMs }` (an integer above 0).
   * @defaultValue the TTL asked for last
   * @throws LeaseLostError (LEASE_LOST) when the lease is no longer ours: that is final.
   * @throws QuorumUnreachableError (QUORUM_UNREACHABLE) when too few nodes answered: the old deadline
   * stands, and extending may be tried again until then.
   * @throws RangeError or TypeError for a bad `by`, before any I/O.
   * @example
   * ```ts
   * import type { Lease } from "@redlatch/core";
   *
   * declare const lease: Lease;
   * await lease.extend(30_000); // lives for at least 30 s from now
   * await lease.extend({ addMs: 5_000 }); // and 5 s longer
   * ```
   */
  extend(by?: number | Addition): Promise<void> {
    return extend(this.#hold, by);
  }

  /**
   * Gives the lock back on all nodes and tells what became of it; resolves when a majority's answer is
   * known. Never rejects, also where the lease had expired long ago. A second call gets the same answer.
   */
  release(): Promise<ReleaseOutcome> {
    return this.#hold.release();
  }

  /**
   * Hands the lease to whoever gets the handle: this one stops extending, counts as no longer held, and
   * its release does nothing. The other process adopts it with `redlock.restore(handle)`, in time: the
   * keys live on until the deadline. To restore one handle twice is an error that nobody can detect.
   *
   * @throws LeaseLostError (LEASE_LOST) when the lease is not ours.
   */
  handOver(): LeaseHandle {
    this.#hold.handOver();
    const { resources, token, owner, heldSince } = this.#hold.grant;
    const { ttlMs } = this.#hold;
    return {
      resources,
      token,
      ttlMs,
      heldSinceMs: heldSince.wallMs,
      ...(owner !== undefined && { owner }),
    };
  }

  /** For logs: everything but the token. */
  toJSON(): {
    resources: readonly string[];
    deadline: number;
    remainingMs: number;
    held: boolean;
  } {
    const { resources, deadline } = this;
    return { resources, deadline, remainingMs: this.remainingMs(), held: this.isHeld() };
  }
}

/** Releases at the end of an `await using` scope. */
export interface Lease extends ScopeEnd {}

// Not a method of the class body: where the symbol is missing it would be named "undefined".
if (Symbol.asyncDispose) {
  Lease.prototype[Symbol.asyncDispose] = async function (this: Lease): Promise<void> {
    await this.release();
  };
}

// The hold must not point back at its lease, or nothing would ever be forgotten.
const forgotten =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<Hold>((hold) => hold.abandon());
