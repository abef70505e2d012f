import type { Vote } from "./vote.ts";

/** Who holds a resource, as far as denials tell. */
export interface Holder {
  readonly token?: string;
  readonly owner?: string | undefined;
  /** The shortest remaining time that a node gave, in milliseconds; absent where a key never expires. */
  readonly remainingMs?: number | undefined;
  /** How many nodes name this holder. */
  readonly nodes: number;
}

/** The holder that most nodes name; of nobody, if none does. */
export function holderOf(votes: readonly Vote[]): Holder {
  const holders = new Map<string, Holder>();
  for (const vote of votes) {
    if (vote.outcome !== "denied" || vote.token === undefined) continue;
    const { token, owner, remainingMs } = vote;
    const known = holders.get(token);
    const leftMs = Math.min(remainingMs ?? Infinity, known?.remainingMs ?? Infinity);
    holders.set(token, {
      token,
      owner,
      remainingMs: leftMs === Infinity ? undefined : leftMs,
      nodes: (known?.nodes ?? 0) + 1,
    });
  }
  return [...holders.values()].reduce(
    (most, holder) => (holder.nodes > most.nodes ? holder : most),
    {
      nodes: 0,
    },
  );
}
