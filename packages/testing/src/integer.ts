import { notAnInteger } from "./reply.ts";

const SMALL = /^(?:0|-?[1-9]\d{0,14})$/;
const LARGE = /^-?[1-9]\d{15,18}$/;

/** Past the largest 64-bit integer, as a number: everything from here on overflows in Redis. */
export const INT64_LIMIT: number = 2 ** 63;

const int64Max: bigint = 2n ** 63n - 1n;
const int64Min: bigint = -(2n ** 63n);

/**
 * Reads an integer as strictly as Redis: no sign `+`, no leading zero, no blank, 64 bits. Beyond 2^53 the
 * result is rounded.
 *
 * @throws ReplyError when the text is not such an integer.
 */
export function parseInteger(text: string, error: () => Error = notAnInteger): number {
  if (SMALL.test(text)) {
    return Number(text);
  }
  return Number(parseExact(text, error));
}

/** Adds two integers as Redis does; the result is exact text, also beyond 2^53. */
export function addExact(left: string, right: string, error: () => Error): string | undefined {
  const sum = parseExact(left, error) + parseExact(right, notAnInteger);
  return sum > int64Max || sum < int64Min ? undefined : String(sum);
}

function parseExact(text: string, error: () => Error): bigint {
  if (SMALL.test(text)) {
    return BigInt(text);
  }
  const value = LARGE.test(text) ? BigInt(text) : undefined;
  if (value === undefined || value > int64Max || value < int64Min) {
    throw error();
  }
  return value;
}
