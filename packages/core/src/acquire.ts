import { attempt, type Loss } from "./attempt.ts";
import { backoffMs } from "./backoff.ts";
import type { Context } from "./context.ts";
import { type RedlockError, ResourceHeldError } from "./errors.ts";
import { Hold } from "./hold.ts";
import { Ticket } from "./local-queue.ts";
import { nodeTimeoutOf, type Settings } from "./options.ts";
import type { Round } from "./round.ts";
import { Waiting } from "./waiting.ts";

/** After so many retry delays of leases that stayed in this process, another process gets its turn. */
const LOCAL_STREAK = 50;

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
  const ticket = new Ticket(resources);
  const waiting = new Waiting(quorum.clock, once ? 0 : settings.waitMs, settings.signal);
  waitings.add(waiting);
  try {
    if (once) refuseIfHeldHere(context, resources);
    else await takeTurn(context, settings, ticket, waiting);
    return await compete(context, settings, ticket, waiting);
  } finally {
    if (!ticket.hold) queue.leave(ticket);
    waitings.delete(waiting);
    waiting.end();
  }
}

/** Attempts until there is a lease. */
async function compete(
  context: Context,
  settings: Settings,
  ticket: Ticket,
  waiting: Waiting,
): Promise<Hold> {
  const { events } = context.quorum;
  const { resources } = ticket;
  let undo: Round | undefined;
  for (let attempts = 1; ; attempts++) {
    const result = await attempt(context, settings, ticket, waiting, undo);
    if (result instanceof Hold) {
      events.emit("acquired", { resources, attempts, waitedMs: waiting.waitedMs() });
      return result;
    }
    ticket.verdict = result.error;
    ticket.localSinceMs = undefined;
    undo = result.undo;
    const leftMs = waiting.leftMs();
    if (leftMs === 0) throw result.error(resources);
    const delayMs = Math.min(leftMs, retryDelayMs(context, settings, result, attempts - 1));
    events.emit("waiting", { resources, delayMs });
    await waiting.pause(delayMs);
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
  const { queue, quorum } = context;
  const { resources } = ticket;
  queue.enter(ticket);
  const ahead = queue.ahead(ticket);
  if (!ahead) return;
  quorum.events.emit("waiting", { resources, delayMs: waiting.leftMs() });
  const came = await waiting.pause(waiting.leftMs(), (wake) => {
    ticket.onTurn = wake;
  });
  ticket.onTurn = undefined;
  if (!came) throw heldBy(resources, queue.ahead(ticket) ?? ahead);
  const { localSinceMs } = ticket;
  const localMs = localSinceMs === undefined ? 0 : quorum.clock.monotonicMs() - localSinceMs;
  if (localMs < LOCAL_STREAK * settings.retryDelayMs) return;
  // As long as others may sleep between two attempts.
  const delayMs = backoffMs(settings, Infinity, 0, settings.random.uniform());
  await waiting.pause(Math.min(waiting.leftMs(), delayMs));
  ticket.localSinceMs = undefined;
}

/** What the one ahead in this process knows: its lease, or how its own last attempt failed. */
function heldBy(resources: readonly string[], { hold, verdict }: Ticket): RedlockError {
  if (!hold?.isHeld() && verdict) return verdict(resources);
  return new ResourceHeldError(resources, hold?.grant.votes(), {
    remainingMs: hold?.remainingMs(),
    owner: hold?.grant.owner,
  });
}

/**
 * The backoff, cut to the holder's remaining time where one holder denies at a whole quorum. (After a split
 * vote nobody holds: to sleep for the TTL of one of the losers would freeze everybody.)
 */
function retryDelayMs(
  { quorum }: Context,
  settings: Settings,
  { holder, roundMs }: Loss,
  attempts: number,
): number {
  // What is beyond the limit was no round, but a suspended process or a clock that jumped.
  const limitMs = Math.max(...quorum.nodes.map((node) => nodeTimeoutOf(node, settings)));
  const tookMs = Math.min(roundMs, limitMs);
  const delayMs = backoffMs(settings, attempts, tookMs, settings.random.uniform());
  return Math.min(delayMs, (holder?.remainingMs ?? Infinity) + 1);
}
