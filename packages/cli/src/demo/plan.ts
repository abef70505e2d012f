/** How a demo is to go. All durations are in milliseconds. */
export interface DemoPlan {
  readonly workers: number;
  /** All of it, roughly. */
  readonly totalMs: number;
  /** The race with the lock; the one without makes as many updates and takes as long as it takes. */
  readonly raceMs: number;
  readonly ttlMs: number;
  /** Between reading the counter and writing it: time enough to be overtaken. */
  readonly pauseMs: Span;
  /** Between two turns of a worker, outside of the lock. */
  readonly restMs: Span;
}

/** Chosen anew each time, evenly. */
export type Span = readonly [least: number, most: number];

/**
 * Divides the seconds between the two races. They make the same number of updates; without a lock the
 * workers make them side by side, so that race takes about the `workers`-th part of the other one's time.
 */
export function planOf({
  workers,
  seconds,
}: {
  readonly workers: number;
  readonly seconds: number;
}): DemoPlan {
  const totalMs = seconds * 1_000;
  const raceMs = (totalMs * workers) / (workers + 1);
  return { workers, totalMs, raceMs, ttlMs: 2_000, pauseMs: [100, 300], restMs: [50, 150] };
}
