/** The node set (or extended, released, confirmed) the key. */
export interface GrantedVote {
  readonly node: string;
  readonly outcome: "granted";
  /** How long the node keeps the key, in milliseconds, where it was asked. */
  readonly remainingMs?: number;
}

/** The node answered no. */
export interface DeniedVote {
  readonly node: string;
  readonly outcome: "denied";
  /** Whether the key was free, where no was an answer to "is it still mine?". */
  readonly free?: boolean;
  /** The holder's token, where known. */
  readonly token?: string;
  /** The holder's label, where it has one. */
  readonly owner?: string;
  /** How long the holder's key lives, in milliseconds; absent where it never expires. */
  readonly remainingMs?: number;
}

/** The node gave no usable answer: error, time limit, not connected, nonsense. */
export interface FailedVote {
  readonly node: string;
  readonly outcome: "failed";
  readonly cause: Error;
}

/** What one node had to say in a round: three outcomes, never a boolean. */
export type Vote = GrantedVote | DeniedVote | FailedVote;

/** The value of a lock's key: its token, and its owner label behind a colon. */
export const keyValueOf = (token: string, owner: string | undefined): string =>
  owner === undefined ? token : `${token}:${owner}`;

/**
 * Reads a script's reply, normalised to text, as a vote. `value` is what the keys hold if they are ours.
 *
 * @throws Error when the text is no reply of any script.
 */
export function voteOf(node: string, reply: string, value: string): Vote {
  if (reply === "1") return { node, outcome: "granted" };
  if (reply === "0" || reply === "") return { node, outcome: "denied", free: true };
  const [, ms, token, label] = /^held (-?\d[\d.e+]*) ([^:]*)(?::(.*))?$/s.exec(reply) ?? [];
  if (!ms || token === undefined) throw new Error(`unexpected reply ${quote(reply)}`);
  const remaining = Number(ms) >= 0 && { remainingMs: Number(ms) };
  if (reply === `held ${ms} ${value}`) return { node, outcome: "granted", ...remaining };
  const owner = label !== undefined && { owner: label };
  return { node, outcome: "denied", token, ...owner, ...remaining };
}

/** Enough of a reply to recognise it by: it may be a whole HTML page. */
const quote = (reply: string): string => JSON.stringify(reply.slice(0, 80));
