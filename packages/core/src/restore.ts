import { Claim } from "./claim.ts";
import { type Instant, instantOf } from "./clock.ts";
import type { Context } from "./context.ts";
import { LeaseLostError, QuorumUnreachableError } from "./errors.ts";
import { Hold } from "./hold.ts";
import type { LeaseHandle } from "./lease.ts";
import type { Settings } from "./options.ts";
import { resourcesOf } from "./resources.ts";
import { majorityOf, quorumOf } from "./tally.ts";
import { deadlineOf, remainingMs } from "./validity.ts";
import { keyValueOf, type Vote } from "./vote.ts";
import { Waiting } from "./waiting.ts";

/** Checks that a handle is one: it came over a wire. */
export function checkHandle(handle: LeaseHandle): void {
  const { token, heldSinceMs, owner } = handle ?? {};
  const whole =
    typeof token === "string" &&
    token !== "" &&
    Number.isFinite(heldSinceMs) &&
    (owner === undefined || typeof owner === "string");
  if (!whole) throw new TypeError("restore takes the handle that lease.handOver() returned");
  resourcesOf(handle.resources);
}

/**
 * Adopts a lease by asking every node "still this token? for how long?". Another machine's clock is never
 * trusted: the deadline counts from the start of this round.
 */
export async function restore(
  context: Context,
  settings: Settings,
  handle: LeaseHandle,
): Promise<Hold> {
  const { quorum, waitings } = context;
  const { token, owner } = handle;
  const { ttlMs, driftFactor, signal } = settings;
  const resources = resourcesOf(handle.resources);
  const claim = new Claim(quorum, settings, resources, keyValueOf(token, owner), ttlMs);
  const waiting = new Waiting(quorum.clock, 0, signal);
  waitings.add(waiting);
  try {
    waiting.throwIfStopped();
    const from = instantOf(quorum.clock);
    const round = claim.look();
    const majority = await waiting.guard(round.until(majorityOf));
    waiting.throwIfStopped();
    const { votes, nodes } = round;
    if (majority === "unknown") throw new QuorumUnreachableError(resources, votes, nodes);
    const deadline = deadlineOf(from, quorumRemainingMs(votes, nodes), driftFactor);
    if (majority === "no" || remainingMs(deadline, instantOf(quorum.clock)) <= 0) {
      throw new LeaseLostError(resources, "lost: no quorum holds this token any more", votes);
    }
    const heldSince = heldSinceOf(handle, from);
    const grant = { resources, token, owner, ttlMs, deadline, heldSince, claim };
    const hold = new Hold(context, settings, { ...grant, votes: () => round.votes });
    quorum.events.emit("acquired", { resources, attempts: 1, waitedMs: 0 });
    return hold;
  } finally {
    waitings.delete(waiting);
    waiting.end();
  }
}

/** When holding began, on this process' clocks; never in the future, whatever the other's clock said. */
function heldSinceOf({ heldSinceMs }: LeaseHandle, now: Instant): Instant {
  const heldMs = Math.max(0, now.wallMs - heldSinceMs);
  return { monotonicMs: now.monotonicMs - heldMs, wallMs: now.wallMs - heldMs };
}

/** The q-th largest remaining TTL: for so long a quorum keeps the keys. */
function quorumRemainingMs(votes: readonly Vote[], nodes: number): number {
  const remaining = votes.flatMap((vote) =>
    vote.outcome === "granted" ? (vote.remainingMs ?? 0) : [],
  );
  return remaining.sort((a, b) => b - a)[quorumOf(nodes) - 1] ?? 0;
}
