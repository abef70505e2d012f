import type { Instant } from "./clock.ts";

/*
 * The arithmetic of a lease's validity (the Redis documentation, "Distributed Locks with Redis").
 * Every instant is a pair, monotonic and wall: the monotonic clock ignores jumps, the wall clock keeps
 * running while a machine sleeps. Whichever says "expired" first is right.
 */

/** How far a node's expiry and this process' clock may drift apart over `ttlMs`; 2 ms for Redis' own rounding. */
export const driftMs = (ttlMs: number, driftFactor: number): number =>
  Math.ceil(ttlMs * driftFactor) + 2;

/** Until when a key set (or found) at or after `from` is certain to live. */
export const deadlineOf = (from: Instant, ttlMs: number, driftFactor: number): Instant => {
  const validityMs = ttlMs - driftMs(ttlMs, driftFactor);
  return { monotonicMs: from.monotonicMs + validityMs, wallMs: from.wallMs + validityMs };
};

export const remainingMs = (deadline: Instant, now: Instant): number =>
  Math.min(deadline.monotonicMs - now.monotonicMs, deadline.wallMs - now.wallMs);

/** How long ago, by the clock that says longer. */
export const elapsedMs = (since: Instant, now: Instant): number =>
  Math.max(now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs);

/** How long ago, by the clock that says shorter; never negative. */
export const surelyElapsedMs = (since: Instant, now: Instant): number =>
  Math.max(0, Math.min(now.monotonicMs - since.monotonicMs, now.wallMs - since.wallMs));

/**
 * Extension never shortens: the deadline that leaves more time. Always a pair as it was computed: a mixed one
 * would keep a wall time from before a backward step, and with it sleep through the next suspend.
 */
export const laterOf = (a: Instant, b: Instant, now: Instant): Instant =>
  remainingMs(b, now) > remainingMs(a, now) ? b : a;
