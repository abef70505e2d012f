import type { Lease } from "@redlatch/core";
import { MAX_LATENESS_MS, type Process } from "./process.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { World } from "./world.ts";

/** A lease in the eyes of its holder. */
export interface Belief {
  readonly process: Process;
  readonly lease: Lease;
  readonly keys: readonly string[];
  readonly fromMs: number;
  /** Since when the lock has been passed on inside the process, from lease to lease. */
  localSinceMs: number;
  /** When its clocks will say that it is over, in true time. */
  untilMs: number;
  /** The same by the monotonic clock alone, which the lease's timer follows. */
  timerMs: number;
  /** When, since the last round won, fewer nodes than a quorum held the keys. */
  dipMs: number | undefined;
  /** When that was so for the last time, renewed or not. */
  lastDipMs: number;
  /** When its last renewal was heard of. */
  renewedMs: number;
  /** Until when, after the last renewal, nodes that had lost their keys were sent them again. */
  repairedUntilMs: number;
  /** The last extension that each node confirmed since the last round won. */
  readonly confirmed: Map<SimulatedNode, { readonly atMs: number; readonly sentAtMs: number }>;
  isOver: boolean;
  /** The moment of its end has been judged. */
  isSettled: boolean;
  isReported: boolean;
}

/** The core steps its timers by at most a second, by a clock that may be slow, to see jumps of the wall clock. */
const MAX_STEP_MS = 1_060;

export const newBelief = (
  process: Process,
  lease: Lease,
  keys: readonly string[],
  nowMs: number,
): Belief => ({
  process,
  lease,
  keys,
  fromMs: nowMs,
  localSinceMs: nowMs,
  untilMs: -Infinity,
  timerMs: -Infinity,
  dipMs: undefined,
  lastDipMs: -Infinity,
  renewedMs: -Infinity,
  repairedUntilMs: -Infinity,
  confirmed: new Map(),
  isOver: false,
  isSettled: false,
  isReported: false,
});

/** Reports a belief, once: what follows from the first violation is of no interest. */
export function report(world: World, belief: Belief, invariant: string, message: string): void {
  if (belief.isReported) return;
  belief.isReported = true;
  world.violate(invariant, `${nameOf(belief)} ${message}`);
}

export const nameOf = ({ process, lease }: Belief): string =>
  `${process.id}'s lease ${lease.token} on ${lease.resources.join("+")}`;

/**
 * When a lease learns at the latest that its time is up: at the deadline by its monotonic clock, within one
 * step of its timer where the wall clock says so, and once its process runs again.
 */
export function lossDueMs({ process, untilMs, timerMs }: Belief): number {
  const awakeMs = process.lastStillEndMs;
  const steppedMs = Math.max(untilMs, awakeMs) + MAX_STEP_MS;
  return Math.max(Math.min(timerMs, steppedMs), awakeMs) + 2 + 2 * MAX_LATENESS_MS;
}
