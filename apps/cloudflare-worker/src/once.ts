import { isRedlockError, type Lease, type Redlock } from "@redlatch/core";

/** What became of an event. */
export type Outcome = "processed" | "duplicate" | "busy";

export interface OnceOptions {
  /** Ends the attempts to start; what has started goes on. */
  readonly signal: AbortSignal;
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

const TTL_MS = 15_000;
/** How long a processed event is remembered: longer than the sender tries again. */
const REMEMBERED_MS = 24 * 3_600_000;
/** Copies of an event that come at the same time can be in each other's way. */
const ATTEMPTS = 3;

/**
 * Processes an event unless it has been, or is being, processed.
 *
 * @throws what `work` throws: the event counts as not processed. QuorumUnreachableError where nobody knows.
 */
export async function once(
  redlock: Redlock,
  event: string,
  work: (signal: AbortSignal) => Promise<void>,
  options: OnceOptions,
): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    const turn = await take(redlock, event, options);
    if (turn === "duplicate") return turn;
    if (turn !== "busy") {
      await underLease(turn, work, options);
      return "processed";
    }
    if (attempt === ATTEMPTS) return turn;
    await new Promise((resolve) => setTimeout(resolve, 100 + 200 * Math.random()));
  }
}

async function take(
  redlock: Redlock,
  event: string,
  { signal, waitUntil }: OnceOptions,
): Promise<Lease | "duplicate" | "busy"> {
  const options = { ttlMs: TTL_MS, waitMs: 0, autoExtend: true, signal, waitUntil };
  try {
    return await redlock.acquire(`webhook:${event}`, options);
  } catch (error) {
    if (!isRedlockError(error, "RESOURCE_HELD")) throw error;
    // Who still works renews a lock of TTL_MS, so a longer one is the mark of a processed event.
    return (error.remainingMs ?? 0) > TTL_MS ? "duplicate" : "busy";
  }
}

async function underLease(
  lease: Lease,
  work: (signal: AbortSignal) => Promise<void>,
  { waitUntil }: OnceOptions,
): Promise<void> {
  try {
    await work(lease.signal);
  } catch (error) {
    waitUntil(lease.release());
    throw error;
  }
  // The sender need not wait for it: until then, another copy finds the event to be busy.
  waitUntil(markAsProcessed(lease));
}

/** Lets the lock stand for the next day instead of releasing it. */
async function markAsProcessed(lease: Lease): Promise<void> {
  try {
    await lease.extend(REMEMBERED_MS);
  } catch (error) {
    console.error(`not remembered: ${(error as Error).message}`);
  }
  // A lease that was handed over is not released, nor extended; here nobody takes it.
  if (lease.isHeld()) lease.handOver();
}
