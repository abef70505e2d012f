import { instantOf } from "./clock.ts";
import { HoldLimitError } from "./errors.ts";
import { extendOnce } from "./extend.ts";
import type { Hold } from "./hold.ts";
import { elapsedMs } from "./validity.ts";

/** Extension runs at this part of the TTL, which leaves time for several more tries. */
export const EXTEND_AT: number = 1 / 3;

/** After an unknown outcome the next try comes at this part of the TTL. */
const RETRY_AT = 1 / 10;

/** How long until automatic extension has something to do. */
export function nextExtensionMs(hold: Hold): number {
  return Math.min(hold.extendAtMs - hold.context.quorum.clock.monotonicMs(), holdLimitMs(hold));
}

/** How long until maxHoldMs, by the clock that says sooner. */
function holdLimitMs({ context, grant, settings }: Hold): number {
  return settings.maxHoldMs - elapsedMs(grant.heldSince, instantOf(context.quorum.clock));
}

/** Extends the lease once more, or ends automatic extension at maxHoldMs. */
export async function keepAlive(hold: Hold): Promise<void> {
  if (holdLimitMs(hold) <= 0) {
    hold.stopExtending();
    hold.cutoff.abort(new HoldLimitError(hold.grant.resources, hold.settings.maxHoldMs));
    return;
  }
  const { clock } = hold.context.quorum;
  const startedMs = clock.monotonicMs();
  // No second one while this one is out.
  hold.extendAtMs = Infinity;
  const { outcome } = await hold.exclusively(() => extendOnce(hold));
  const { ttlMs, deadline } = hold;
  hold.extendAtMs =
    outcome === "renewed"
      ? // Not before it can move the deadline: an earlier extension may have asked for more.
        Math.max(startedMs + ttlMs * EXTEND_AT, deadline.monotonicMs - ttlMs * (1 - EXTEND_AT))
      : clock.monotonicMs() + ttlMs * RETRY_AT;
  hold.schedule();
}
