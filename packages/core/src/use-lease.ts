import { onAbort } from "./abort-listener.ts";
import type { Hold } from "./hold.ts";
import { Lease } from "./lease.ts";

/** What `using` runs under the lock. */
export type Work<Value> = (lease: Lease) => Value | PromiseLike<Value>;

/** Runs the work under its lease and releases it, whatever happens. A failing release hides nothing. */
export async function useLease<Value>(hold: Hold, work: Work<Value>): Promise<Value> {
  const { signal, onLost } = hold.settings;
  // Kept until the end: work that ignores its lease has not forgotten it.
  const lease = new Lease(hold);
  const letGo = signal && onAbort(signal, () => hold.cutoff.abort(signal.reason));
  let value: Value;
  try {
    value = await work(lease);
  } finally {
    letGo?.();
    // Notices a deadline that has passed, before the release makes an end of it.
    lease.isHeld();
    await lease.release();
  }
  if (hold.loss && onLost === "throw") throw hold.loss;
  return value;
}
