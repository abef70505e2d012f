import type { Clock } from "@redlatch/core";

/** A promise that is looked at from outside: whether, when and how it settled. Never an unhandled rejection. */
export interface Watched<Value> {
  state: "pending" | "resolved" | "rejected";
  value: Value | undefined;
  error: unknown;
  /** Virtual time at which it settled. */
  atMs: number | undefined;
}

export function watched<Value>(clock: Clock, promise: Promise<Value>): Watched<Value> {
  const seen: Watched<Value> = {
    state: "pending",
    value: undefined,
    error: undefined,
    atMs: undefined,
  };
  promise.then(
    (value) => Object.assign(seen, { state: "resolved", value, atMs: clock.monotonicMs() }),
    (error: unknown) =>
      Object.assign(seen, { state: "rejected", error, atMs: clock.monotonicMs() }),
  );
  return seen;
}
