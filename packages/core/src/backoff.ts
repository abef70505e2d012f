/** What a wait between two attempts is made of. */
export interface Backoff {
  readonly retryDelayMs: number;
  readonly retryJitter: number;
}

/** The base doubles with every attempt, up to this many times its first value. */
const MAX_GROWTH = 10;

/**
 * How long to wait after attempt number `attempts` (from 0) failed.
 *
 * The base is considerably longer than a majority takes to answer (the Redis documentation), so that
 * competitors fall out of step; `uniform` in [0, 1) spreads it by `retryJitter` in both directions.
 */
export function backoffMs(
  { retryDelayMs, retryJitter }: Backoff,
  attempts: number,
  roundMs: number,
  uniform: number,
): number {
  const baseMs = Math.max(retryDelayMs, 2 * roundMs) * Math.min(2 ** attempts, MAX_GROWTH);
  return baseMs * (1 + retryJitter * (2 * uniform - 1));
}
