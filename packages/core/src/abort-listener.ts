/** Who waits for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when `signal` aborts, or at once if it has. One real listener per signal, however many wait: a
 * process passes one shutdown signal everywhere, and Node warns of a leak from the eleventh listener on.
 *
 * @returns A function that ends it; the last one takes the listener off the signal.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  const callbacks = waiting.get(signal) ?? listen(signal);
  // A function of its own, so that the same callback given twice is called twice.
  const entry = (): void => callback();
  callbacks.add(entry);
  return () => {
    callbacks.delete(entry);
    if (callbacks.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", abort);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  waiting.set(signal, callbacks);
  signal.addEventListener("abort", abort);
  return callbacks;
}

function abort(this: AbortSignal): void {
  for (const callback of waiting.get(this) ?? []) callback();
}
