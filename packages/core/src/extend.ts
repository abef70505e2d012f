import { instantOf } from "./clock.ts";
import { LeaseLostError, QuorumUnreachableError } from "./errors.ts";
import type { Hold } from "./hold.ts";
import { checkTtl } from "./options.ts";
import { extensionOf } from "./tally.ts";
import { deadlineOf } from "./validity.ts";
import type { Vote } from "./vote.ts";

/** What to extend a lease to, or by. */
export interface Addition {
  /** How many milliseconds to add to what remains: an integer above 0. */
  readonly addMs: number;
}

/** Extends as the caller asks; resolves when a majority agreed. */
export async function extend(hold: Hold, by: number | Addition = hold.ttlMs): Promise<void> {
  const addMs = typeof by === "object" ? by?.addMs : undefined;
  if (addMs === undefined) checkTtl(by as number);
  else if (!(Number.isSafeInteger(addMs) && addMs > 0)) {
    throw new RangeError(`addMs must be a positive integer of milliseconds, got ${String(addMs)}`);
  }
  const { outcome, votes } = await hold.exclusively(() => {
    // Computed here, not added on the nodes: two additions on different majorities would not agree.
    hold.ttlMs = addMs === undefined ? (by as number) : Math.ceil(hold.remainingMs() + addMs);
    return extendOnce(hold, hold.ttlMs);
  });
  if (outcome === "lost") throw hold.whyNotHeld();
  if (outcome === "unknown") {
    const { resources } = hold.grant;
    throw new QuorumUnreachableError(resources, votes, hold.context.quorum.nodes.length);
  }
}

/**
 * One round of extension. It has to start and to end before the deadline: a majority that agrees later
 * may have been somebody else's in between.
 */
export async function extendOnce(
  hold: Hold,
  ttlMs: number,
): Promise<{ outcome: "renewed" | "lost" | "unknown"; votes: readonly Vote[] }> {
  const leftMs = hold.remainingMs();
  if (leftMs <= 0) return { outcome: "lost", votes: [] };
  const { claim, resources } = hold.grant;
  const from = instantOf(hold.context.quorum.clock);
  let mend: ((index: number) => void) | undefined;
  const missing: number[] = [];
  const round = claim.extend(ttlMs, leftMs, (vote, index) => {
    if (vote.outcome !== "denied" || !vote.free) return;
    if (mend) mend(index);
    else missing.push(index);
  });
  const outcome = await round.until(extensionOf);
  const { votes } = round;
  if (outcome === "lost") {
    const why = "was lost: its keys are gone or somebody else's on too many nodes";
    hold.lose(new LeaseLostError(resources, why, votes));
  }
  if (!hold.isHeld()) return { outcome: "lost", votes };
  if (outcome === "renewed") {
    hold.renew(deadlineOf(from, ttlMs, hold.settings.driftFactor));
    // After the verdict only: a repaired key says nothing about the time before.
    mend = (index) => {
      const remainingMs = Math.floor(hold.remainingMs());
      if (remainingMs > 0) claim.repair(index, remainingMs);
    };
    missing.forEach(mend);
  }
  return { outcome, votes };
}
