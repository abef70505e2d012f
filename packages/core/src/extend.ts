import { instantOf } from "./clock.ts";
import { LeaseLostError, QuorumUnreachableError, RedlockClosedError } from "./errors.ts";
import type { Hold } from "./hold.ts";
import { checkAddition, checkLike } from "./options.ts";
import type { Round } from "./round.ts";
import { majorityOf } from "./tally.ts";
import { deadlineOf } from "./validity.ts";
import type { Vote } from "./vote.ts";

/** What to extend a lease to, or by. */
export interface Addition {
  /** How many milliseconds to add to what remains: an integer above 0. */
  readonly addMs: number;
}

/** Extends as the caller asks; resolves when a majority agreed. */
export async function extend(hold: Hold, by: number | Addition = hold.ttlMs): Promise<void> {
  const { quorum } = hold.context;
  const addMs = additionOf(by);
  const { outcome, votes } = await hold.exclusively(() => {
    if (quorum.closed) throw new RedlockClosedError(hold.grant.resources);
    hold.ttlMs = addMs === undefined ? (by as number) : longerTtlMs(hold, addMs);
    return extendOnce(hold);
  });
  if (outcome === "lost") throw hold.whyNotHeld();
  if (outcome === "unknown") {
    throw new QuorumUnreachableError(hold.grant.resources, votes, quorum.nodes.length);
  }
}

/** Checks what the caller asks for; the milliseconds to add, if it is an addition. */
function additionOf(by: unknown): number | undefined {
  if (typeof by !== "object" || by === null) {
    checkLike("ttlMs", "ttlMs", by);
    return undefined;
  }
  const { addMs } = by as Addition;
  checkAddition(addMs);
  return addMs;
}

/**
 * The TTL that moves the deadline by `addMs`: of a new TTL the drift is taken off, of what remains it was
 * already. Computed here, not added on the nodes: two additions on different majorities would not agree.
 */
function longerTtlMs(hold: Hold, addMs: number): number {
  const validityMs = hold.remainingMs() + addMs;
  return Math.max(10, Math.ceil((validityMs + 3) / (1 - hold.settings.driftFactor)));
}

/**
 * One round of extension to the TTL asked for last. It has to start and to end before the deadline: a
 * majority that agrees later may have been somebody else's in between.
 */
export async function extendOnce(
  hold: Hold,
): Promise<{ outcome: "renewed" | "lost" | "unknown"; votes: readonly Vote[] }> {
  const leftMs = hold.remainingMs();
  if (leftMs <= 0) return { outcome: "lost", votes: [] };
  const { ttlMs, grant, settings, context } = hold;
  const from = instantOf(context.quorum.clock);
  const round = grant.claim.extend(ttlMs, leftMs);
  const majority = await round.until(majorityOf);
  const { votes } = round;
  if (majority === "no") {
    const why = "lost: its keys are gone or somebody else's on too many nodes";
    hold.lose(new LeaseLostError(grant.resources, why, votes));
  }
  if (!hold.isHeld()) return { outcome: "lost", votes };
  if (majority !== "yes") return { outcome: "unknown", votes };
  hold.renew(deadlineOf(from, ttlMs, settings.driftFactor));
  // After the verdict only: a repaired key says nothing about the time before.
  round.complete().then(() => repair(hold, round));
  return { outcome: "renewed", votes };
}

/** Gives the keys back to the nodes that lost them. */
function repair(hold: Hold, { votes }: Round): void {
  votes.forEach((vote, index) => {
    const leftMs = Math.floor(hold.remainingMs());
    const lost = vote.outcome === "denied" && vote.free;
    if (lost && leftMs > 0) hold.grant.claim.repair(index, leftMs);
  });
}
