import type { Context } from "./context.ts";
import type { Hold } from "./hold.ts";
import { Lease } from "./lease.ts";

/** What `using` runs under the lock. */
export type Work<Value> = (lease: Lease) => Value | PromiseLike<Value>;

/** Runs the work under its lease and releases it, whatever happens. A failing release hides nothing. */
export function useLease<Value>(context: Context, hold: Hold, work: Work<Value>): Promise<Value> {
  const running = run(hold, work);
  const { works } = context;
  works.add(running);
  running.finally(() => works.delete(running)).catch(() => {});
  return running;
}

async function run<Value>(hold: Hold, work: Work<Value>): Promise<Value> {
  const { signal, onLost } = hold.settings;
  const stop = (): void => hold.cutoff.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  let value: Value;
  let held = true;
  try {
    value = await work(new Lease(hold));
  } finally {
    signal?.removeEventListener("abort", stop);
    held = hold.isHeld();
    await hold.release();
  }
  if (!held && onLost === "throw") throw hold.whyNotHeld();
  return value;
}
