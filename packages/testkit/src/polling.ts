import { setTimeout as sleep } from "node:timers/promises";

export interface PollingOptions {
  /** @defaultValue 5000 */
  readonly timeoutMs?: number;
  /** @defaultValue 5 */
  readonly intervalMs?: number;
}

/**
 * Asks again and again until the answer is truthy, and returns it.
 *
 * @param what - names the awaited fact, for the error.
 * @throws Error when `timeoutMs` has passed; its cause is the last error of `ask`.
 */
export async function pollUntil<T>(
  what: string,
  ask: () => T | Promise<T>,
  { timeoutMs = 5_000, intervalMs = 5 }: PollingOptions = {},
): Promise<Exclude<T, false | undefined | null | 0 | "">> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const answer = await ask();
      if (answer) return answer as Exclude<T, false | undefined | null | 0 | "">;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await sleep(intervalMs);
  } while (performance.now() < deadline);
  throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause });
}
