import { setTimeout as sleep } from "node:timers/promises";
import { isRedlockError, type Lease, type Redlock } from "@redlatch/core";
import { type Job, nameOf, type Tick } from "./job.ts";

/** What became of a tick, as this replica sees it. */
export type Outcome =
  /** Here, and the other replicas know. */
  | "ran"
  /** Here, but a majority of Redis could not be told: another replica may run it again. */
  | "ran unmarked"
  /** Another replica finished it. */
  | "ran elsewhere"
  /** Nobody finished it, as far as this replica knows, before the next tick was due. */
  | "given up";

export interface TickSettings {
  readonly lockTtlMs: number;
  /** Told, once for the tick, that too few Redis servers answer; it goes on trying. */
  readonly onUnreachable: (error: Error) => void;
}

/** How long a finished tick is remembered: far longer than the clocks of two replicas differ. */
const REMEMBERED_MS = 3_600_000;
const LOOK_AGAIN_MS = 200;

/**
 * Runs the job under the tick's lock, or waits until another replica has finished it: one that dies, fails
 * or shuts down on the way leaves the tick to those who wait.
 */
export async function runTick(
  redlock: Redlock,
  tick: Tick,
  job: Job,
  signal: AbortSignal,
  { lockTtlMs, onUnreachable }: TickSettings,
): Promise<Outcome> {
  const leftMs = tick.until.getTime() - Date.now();
  const options = {
    ttlMs: lockTtlMs,
    signal: AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, leftMs))]),
  };
  const work = async (lease: Lease): Promise<Outcome> => {
    await job(tick, lease.signal);
    return (await markAsFinished(lease)) ? "ran" : "ran unmarked";
  };
  let told = false;
  // The clock is asked too: on a machine that was asleep, timers come late.
  while (Date.now() < tick.until.getTime()) {
    try {
      const turn = await redlock.tryUsing(`cron:${nameOf(tick)}`, work, options);
      if (turn.ran) return turn.value;
      // Who still works renews a lock of lockTtlMs, so a longer one is the mark of a finished tick.
      if ((turn.remainingMs ?? 0) > lockTtlMs) return "ran elsewhere";
    } catch (error) {
      if (!isRedlockError(error, "QUORUM_UNREACHABLE")) throw error;
      if (!told) onUnreachable(error);
      told = true;
    }
    // At random, so that replicas that were in each other's way do not meet again.
    await sleep(LOOK_AGAIN_MS * (0.5 + Math.random()), undefined, { signal });
  }
  return "given up";
}

/** Lets the lock stand for the next hour instead of releasing it. */
async function markAsFinished(lease: Lease): Promise<boolean> {
  const marked = await lease.extend(REMEMBERED_MS).then(
    () => true,
    () => false,
  );
  // A lease that was handed over is not released; here nobody takes it.
  if (lease.isHeld()) lease.handOver();
  return marked;
}
