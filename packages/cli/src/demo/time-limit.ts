import { setMaxListeners } from "node:events";

/** A signal that aborts after `ms`, or with another one; `end` aborts it at once and leaves no timer. */
export function timeLimit(
  ms: number,
  other: AbortSignal,
): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  // Every worker that waits listens: fifty of them are no leak.
  setMaxListeners(0, controller.signal);
  const follow = (): void => controller.abort(other.reason);
  if (other.aborted) follow();
  other.addEventListener("abort", follow);
  const timer = setTimeout(() => controller.abort(), ms);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      other.removeEventListener("abort", follow);
      controller.abort();
    },
  };
}
