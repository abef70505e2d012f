import { isDeepStrictEqual } from "node:util";
import type { Deviation } from "./deviations.ts";
import type { Exchange, Run } from "./run.ts";

/** Equal in all but times, which may differ by the tolerance of the run. */
export function differencesOf(
  { exchanges, toleranceMs }: Run,
  deviations: readonly Deviation[] = [],
): readonly string[] {
  return exchanges.flatMap((exchange, index) => {
    if (alike(exchange, toleranceMs)) return [];
    if (deviations.some((deviation) => deviation.covers(plainly(exchange)))) return [];
    const { command, real, memory } = plainly(exchange);
    const shown = command.map((word) => JSON.stringify(word)).join(" ");
    const answers = `real: ${JSON.stringify(real)}; memory node: ${JSON.stringify(memory)}`;
    return [`#${index} ${shown}\n   ${answers}`];
  });
}

/** An exchange with its errors as text: `(error) ERR …`. */
export interface PlainExchange {
  readonly command: readonly string[];
  readonly real: unknown;
  readonly memory: unknown;
}

const plainly = ({ command, real, memory }: Exchange): PlainExchange => ({
  command,
  real: plain(real),
  memory: plain(memory),
});

/** Errors as text, also inside of arrays. */
function plain(reply: unknown): unknown {
  if (reply instanceof Error) return `(error) ${reply.message}`;
  return Array.isArray(reply) ? reply.map(plain) : reply;
}

function alike(exchange: Exchange, toleranceMs: number): boolean {
  const { command, real, memory } = plainly(exchange);
  if (isDeepStrictEqual(real, memory)) return true;
  switch (command[0]) {
    case "PTTL":
      return near(real, memory, toleranceMs);
    case "TTL":
      return toleranceMs > 400 && near(real, memory, 1);
    case "KEYS":
      return isDeepStrictEqual(sorted(real), sorted(memory));
    case "EVAL":
    case "EVALSHA":
      return sameHolding(real, memory, toleranceMs);
    default:
      return false;
  }
}

/** Negative answers are no times. */
function near(a: unknown, b: unknown, tolerance: number): boolean {
  if (typeof a !== "number" || typeof b !== "number" || a < 0 || b < 0) return false;
  // Beyond 2^53 both are rounded.
  return Math.abs(a - b) <= tolerance + a * Number.EPSILON;
}

const sorted = (reply: unknown): unknown => (Array.isArray(reply) ? [...reply].sort() : reply);

/** `held <remaining ms> <value>`. */
function sameHolding(a: unknown, b: unknown, toleranceMs: number): boolean {
  const [mine, other] = [a, b].map((reply) => /^held (\d+) (.*)$/s.exec(String(reply)));
  return (
    !!mine &&
    !!other &&
    mine[2] === other[2] &&
    near(Number(mine[1]), Number(other[1]), toleranceMs)
  );
}
