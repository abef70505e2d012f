import { Claim } from "./claim.ts";
import { instantOf } from "./clock.ts";
import type { Context } from "./context.ts";
import { LeaseLostError, QuorumUnreachableError } from "./errors.ts";
import { Hold } from "./hold.ts";
import type { LeaseHandle } from "./lease.ts";
import type { Settings } from "./options.ts";
import { resourcesOf } from "./resources.ts";
import { lossOf, quorumOf, verdictOf } from "./tally.ts";
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
  const { quorum } = context;
  const { token, owner, heldSinceMs } = handle;
  const { ttlMs } = settings;
  const resources = resourcesOf(handle.resources);
  const claim = new Claim(quorum, settings, resources, keyValueOf(token, owner), ttlMs);
  const waiting = new Waiting(quorum.clock, 0, settings.signal);
  context.waitings.add(waiting);
  try {
    waiting.throwIfStopped();
    const from = instantOf(quorum.clock);
    const round = claim.look();
    const verdict = await waiting.guard(round.until(verdictOf));
    const why = verdict === "lost" && (await waiting.guard(round.until(lossOf)));
    const { votes } = round;
    if (why === "unreachable") throw new QuorumUnreachableError(resources, votes, round.nodes);
    const deadline = deadlineOf(from, quorumRemainingMs(votes, round.nodes), settings.driftFactor);
    if (why || remainingMs(deadline, instantOf(quorum.clock)) <= 0) {
      throw new LeaseLostError(resources, "lost: no quorum holds this token any more", votes);
    }
    const grant = { resources, token, owner, ttlMs, deadline, heldSinceMs, claim };
    return new Hold(context, settings, { ...grant, votes: () => round.votes });
  } finally {
    context.waitings.delete(waiting);
    waiting.end();
  }
}

/** The q-th largest remaining TTL: for so long a quorum keeps the keys. */
function quorumRemainingMs(votes: readonly Vote[], nodes: number): number {
  const remaining = votes.flatMap((vote) =>
    vote.outcome === "granted" ? (vote.remainingMs ?? 0) : [],
  );
  return remaining.sort((a, b) => b - a)[quorumOf(nodes) - 1] ?? 0;
}
