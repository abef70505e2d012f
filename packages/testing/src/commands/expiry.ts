import { INT64_LIMIT, parseInteger } from "../integer.ts";
import { invalidExpireTime } from "../reply.ts";

/** How a command states an expiry: unit in ms, and whether from now or from the epoch. */
export interface ExpiryUnit {
  readonly unitMs: number;
  readonly absolute: boolean;
}

/** The options of SET. */
export const expiryOptions: Readonly<Record<string, ExpiryUnit>> = {
  EX: { unitMs: 1_000, absolute: false },
  PX: { unitMs: 1, absolute: false },
  EXAT: { unitMs: 1_000, absolute: true },
  PXAT: { unitMs: 1, absolute: true },
};

/** Reads an expiry; the result is ms since the epoch, possibly past. @throws ReplyError */
export function parseExpiry(
  text: string,
  { unitMs, absolute }: ExpiryUnit,
  nowMs: number,
  command: string,
): number {
  const ms = parseInteger(text) * unitMs;
  const expiresAtMs = absolute ? ms : nowMs + ms;
  // Milliseconds since the epoch are taken as they are: nothing to multiply or to add, nothing to overflow.
  const mayOverflow = !absolute || unitMs > 1;
  if (mayOverflow && (ms < -INT64_LIMIT || ms >= INT64_LIMIT || expiresAtMs >= INT64_LIMIT)) {
    throw invalidExpireTime(command);
  }
  return expiresAtMs;
}
