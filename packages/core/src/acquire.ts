import { backoffMs } from "./backoff.ts";
import { Claim } from "./claim.ts";
import { instantOf } from "./clock.ts";
import type { Context } from "./context.ts";
import { QuorumUnreachableError, type RedlockError, ResourceHeldError } from "./errors.ts";
import { Hold } from "./hold.ts";
import { type Holder, holderOf } from "./holder.ts";
import { MAX_LOCAL_HANDOVERS, Ticket } from "./local-queue.ts";
import type { Settings } from "./options.ts";
import type { Round } from "./round.ts";
import { lossOf, quorumOf, verdictOf } from "./tally.ts";
import { deadlineOf, elapsedMs, remainingMs } from "./validity.ts";
import { keyValueOf, type Vote } from "./vote.ts";
import { Waiting } from "./waiting.ts";

/** An attempt that did not win. */
interface Loss {
  readonly error: (resources: readonly string[]) => RedlockError;
  readonly holder: Holder;
  readonly roundMs: number;
  readonly undo: Round;
}

/**
 * Waits in line, then attempts, undoes and waits until there is a lease or no patience left. `once`: a single
 * attempt, past the line.
 */
export async function acquire(
  context: Context,
  settings: Settings,
  resources: readonly string[],
  once = false,
): Promise<Hold> {
  const { quorum, queue, waitings } = context;
  const { clock, events } = quorum;
  const startedMs = clock.monotonicMs();
  const ticket = new Ticket(resources);
  const waiting = new Waiting(clock, once ? 0 : settings.waitMs, settings.signal);
  waitings.add(waiting);
  try {
    if (once) refuseIfHeldHere(context, resources);
    else await takeTurn(context, settings, ticket, waiting);
    let undo: Round | undefined;
    for (let attempts = 1; ; attempts++) {
      const result = await attempt(context, settings, ticket, waiting, undo);
      if (result instanceof Hold) {
        events.emit("acquired", { resources, attempts, waitedMs: clock.monotonicMs() - startedMs });
        return result;
      }
      ticket.verdict = result.error;
      ticket.handovers = 0;
      undo = result.undo;
      const leftMs = waiting.leftMs();
      if (leftMs === 0) throw result.error(resources);
      const delayMs = Math.min(leftMs, retryDelayMs(context, settings, result, attempts - 1));
      events.emit("waiting", { resources, delayMs });
      await waiting.pause(delayMs);
    }
  } finally {
    if (!ticket.hold) queue.leave(ticket);
    waitings.delete(waiting);
    waiting.end();
  }
}

/** Saves the round trip where the answer is known. */
function refuseIfHeldHere({ queue }: Context, resources: readonly string[]): void {
  const holder = queue.holder(resources);
  if (holder) throw heldBy(resources, holder);
}

/** Waits until nobody of this process comes first. */
async function takeTurn(
  context: Context,
  settings: Settings,
  ticket: Ticket,
  waiting: Waiting,
): Promise<void> {
  const { queue } = context;
  queue.enter(ticket);
  const ahead = queue.ahead(ticket);
  if (!ahead) return;
  const { resources } = ticket;
  const came = await waiting.pause(waiting.leftMs(), (wake) => {
    ticket.onTurn = wake;
  });
  ticket.onTurn = undefined;
  if (!came) throw heldBy(resources, queue.ahead(ticket) ?? ahead);
  if (ticket.handovers < MAX_LOCAL_HANDOVERS) return;
  ticket.handovers = 0;
  const delayMs = backoffMs(settings, 0, 0, settings.random.uniform());
  await waiting.pause(Math.min(waiting.leftMs(), delayMs));
}

/** What the one ahead in this process knows: its lease, or how its own last attempt failed. */
function heldBy(resources: readonly string[], { hold, verdict }: Ticket): RedlockError {
  if (!hold?.isHeld() && verdict) return verdict(resources);
  return new ResourceHeldError(resources, hold?.grant.votes(), {
    remainingMs: hold?.remainingMs(),
    owner: hold?.grant.owner,
  });
}

async function attempt(
  context: Context,
  settings: Settings,
  ticket: Ticket,
  waiting: Waiting,
  undo?: Round,
): Promise<Hold | Loss> {
  waiting.throwIfStopped();
  const { clock, events } = context.quorum;
  const { resources } = ticket;
  const { owner, ttlMs, driftFactor } = settings;
  const token = settings.random.token();
  const claim = new Claim(context.quorum, settings, resources, keyValueOf(token, owner));
  // Before the first byte is sent: from then on, at the earliest, the keys live.
  const from = instantOf(clock);
  const round = claim.acquire(undo);
  let verdict: "won" | "lost";
  try {
    verdict = await waiting.guard(round.until(verdictOf));
  } catch (stopped) {
    claim.release();
    throw stopped;
  }
  const now = instantOf(clock);
  const roundMs = elapsedMs(from, now);
  events.emit("attempt", { resources, verdict, votes: round.votes, elapsedMs: roundMs });
  const deadline = deadlineOf(from, ttlMs, driftFactor);
  if (verdict === "won" && remainingMs(deadline, now) > 0) {
    const votes = (): readonly Vote[] => round.votes;
    const heldSinceMs = from.wallMs;
    const grant = { resources, token, owner, ttlMs, deadline, heldSinceMs, claim, votes };
    return new Hold(context, settings, grant, ticket);
  }
  const release = claim.release();
  if (verdict === "won") {
    const took = `the answers took ${Math.ceil(roundMs)} ms, too long for a ttlMs of ${ttlMs}`;
    return lossBy("unreachable", round, roundMs, release, new Error(took));
  }
  // The undo is under way; which error it is must not depend on the order of the replies.
  const why = await waiting.guard(round.until(lossOf));
  return lossBy(why, round, roundMs, release);
}

function lossBy(
  why: "held" | "unreachable",
  round: Round,
  roundMs: number,
  undo: Round,
  cause?: Error,
): Loss {
  const { votes, nodes } = round;
  const holder = holderOf(votes);
  const error = (resources: readonly string[]): RedlockError =>
    why === "held"
      ? new ResourceHeldError(resources, votes, holder)
      : new QuorumUnreachableError(resources, votes, nodes, cause && { cause });
  return { error, holder, roundMs, undo };
}

/**
 * The backoff, cut to the holder's remaining time where one holder denies at a whole quorum. (After a split
 * vote nobody holds: to sleep for the TTL of one of the losers would freeze everybody.)
 */
function retryDelayMs(context: Context, settings: Settings, loss: Loss, attempts: number): number {
  const { nodes } = context.quorum;
  const delayMs = backoffMs(settings, attempts, loss.roundMs, settings.random.uniform());
  const { holder } = loss;
  if (holder.nodes < quorumOf(nodes.length) || holder.remainingMs === undefined) return delayMs;
  return Math.min(delayMs, holder.remainingMs + 1);
}
