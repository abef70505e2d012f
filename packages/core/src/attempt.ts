import { Claim } from "./claim.ts";
import { type Instant, instantOf } from "./clock.ts";
import type { Context } from "./context.ts";
import { QuorumUnreachableError, type RedlockError, ResourceHeldError } from "./errors.ts";
import { Hold } from "./hold.ts";
import { type Holder, holderOf } from "./holder.ts";
import type { Ticket } from "./local-queue.ts";
import type { Settings } from "./options.ts";
import type { Round } from "./round.ts";
import { lossOf, quorumOf, verdictOf } from "./tally.ts";
import { deadlineOf, elapsedMs, remainingMs } from "./validity.ts";
import { keyValueOf, type Vote } from "./vote.ts";
import type { Waiting } from "./waiting.ts";

/** An attempt that did not win. */
export interface Loss {
  readonly error: (resources: readonly string[]) => RedlockError;
  /** Who denied at a whole quorum, if one did. */
  readonly holder: Holder | undefined;
  readonly roundMs: number;
  readonly undo: Round;
}

/** One round: a lease, or an undo that is under way and the reason. */
export async function attempt(
  context: Context,
  settings: Settings,
  ticket: Ticket,
  waiting: Waiting,
  undo?: Round,
): Promise<Hold | Loss> {
  waiting.throwIfStopped();
  const { quorum } = context;
  const token = settings.random.token();
  const value = keyValueOf(token, settings.owner);
  const claim = new Claim(quorum, settings, ticket.resources, value);
  // Before the first byte is sent: from then on, at the earliest, the keys live.
  const from = instantOf(quorum.clock);
  const round = claim.acquire(undo);
  try {
    const won = (await decided(context, ticket, waiting, round, from)) === "won";
    const now = instantOf(quorum.clock);
    const deadline = deadlineOf(from, settings.ttlMs, settings.driftFactor);
    if (won && remainingMs(deadline, now) > 0) {
      const { resources } = ticket;
      const votes = (): readonly Vote[] => round.votes;
      const { owner, ttlMs } = settings;
      const grant = { resources, token, owner, ttlMs, deadline, heldSince: from, claim, votes };
      return new Hold(context, settings, grant, ticket);
    }
    const release = claim.release();
    const roundMs = elapsedMs(from, now);
    if (won) return tooSlow(round, release, roundMs, settings.ttlMs);
    // Which error it is must not depend on the order of the replies.
    const why = await waiting.guard(round.until(lossOf));
    return lossBy(why, round, release, roundMs);
  } catch (stopped) {
    claim.release();
    throw stopped;
  }
}

/** Waits for the verdict and tells of it; throws when the caller stopped waiting meanwhile. */
async function decided(
  { quorum }: Context,
  { resources }: Ticket,
  waiting: Waiting,
  round: Round,
  from: Instant,
): Promise<"won" | "lost"> {
  const verdict = await waiting.guard(round.until(verdictOf));
  const tookMs = elapsedMs(from, instantOf(quorum.clock));
  quorum.events.emit("attempt", { resources, verdict, votes: round.votes, elapsedMs: tookMs });
  // By a listener, or between the winning vote and now.
  waiting.throwIfStopped();
  return verdict;
}

function tooSlow(round: Round, undo: Round, roundMs: number, ttlMs: number): Loss {
  const took = `the answers took ${Math.ceil(roundMs)} ms, too long for a ttlMs of ${ttlMs}`;
  return lossBy("unreachable", round, undo, roundMs, new Error(took));
}

function lossBy(
  why: "held" | "unreachable",
  round: Round,
  undo: Round,
  roundMs: number,
  cause?: Error,
): Loss {
  const { votes, nodes } = round;
  const most = holderOf(votes);
  // After a split vote nobody holds, whoever got the most votes.
  const holder = most.nodes >= quorumOf(nodes) ? most : undefined;
  const error = (resources: readonly string[]): RedlockError =>
    why === "held"
      ? new ResourceHeldError(resources, votes, holder)
      : new QuorumUnreachableError(resources, votes, nodes, cause && { cause });
  return { error, holder, roundMs, undo };
}
