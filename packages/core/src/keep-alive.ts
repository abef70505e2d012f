import { HoldLimitError } from "./errors.ts";
import { extendOnce } from "./extend.ts";
import type { Hold } from "./hold.ts";

/** Extension runs at this part of the TTL, which leaves time for several more tries. */
const EXTEND_AT = 1 / 3;

/** After an unknown outcome the next try comes at this part of the TTL. */
const RETRY_AT = 1 / 10;

/** How long until automatic extension has something to do. */
export function nextExtensionMs(hold: Hold): number {
  const { clock } = hold.context.quorum;
  return Math.min(
    hold.extendAtMs - clock.monotonicMs(),
    hold.grant.heldSinceMs + hold.settings.maxHoldMs - clock.wallMs(),
  );
}

/** Extends the lease once more, or ends automatic extension at maxHoldMs. */
export async function keepAlive(hold: Hold): Promise<void> {
  const { clock } = hold.context.quorum;
  const { maxHoldMs } = hold.settings;
  if (clock.wallMs() - hold.grant.heldSinceMs >= maxHoldMs) {
    hold.stopExtending();
    hold.cutoff.abort(new HoldLimitError(hold.grant.resources, maxHoldMs));
    return;
  }
  const startedMs = clock.monotonicMs();
  // No second one while this one is out.
  hold.extendAtMs = Infinity;
  const { outcome } = await hold.exclusively(() => extendOnce(hold));
  hold.extendAtMs =
    outcome === "renewed"
      ? startedMs + hold.ttlMs * EXTEND_AT
      : clock.monotonicMs() + hold.ttlMs * RETRY_AT;
  hold.schedule();
}
