/** The votes of a round so far, counted; `nodes` is the configured number, never the connected one. */
export interface Tally {
  readonly nodes: number;
  readonly granted: number;
  readonly denied: number;
  readonly failed: number;
}

/** A majority: floor(N/2) + 1. */
export const quorumOf = (nodes: number): number => Math.floor(nodes / 2) + 1;

const pendingOf = ({ nodes, granted, denied, failed }: Tally): number =>
  nodes - granted - denied - failed;

/** Whether the round is won, lost (also by a tie: half against already rules out a win) or open. */
export function verdictOf(tally: Tally): "won" | "lost" | undefined {
  const quorum = quorumOf(tally.nodes);
  if (tally.granted >= quorum) return "won";
  if (tally.granted + pendingOf(tally) < quorum) return "lost";
  return undefined;
}

/**
 * Whether, once all others have voted, there are too few answers unless nodes that were left out are asked,
 * too: to win, or to tell a held resource from an unreachable quorum. `leftOut`: how many; they have not voted.
 */
export function needsMore(tally: Tally, leftOut: number): boolean | undefined {
  const quorum = quorumOf(tally.nodes);
  if (tally.granted >= quorum || (lossOf(tally) === "held" && verdictOf(tally) === "lost")) {
    return false;
  }
  return pendingOf(tally) > leftOut ? undefined : true;
}

/** Why a round was lost, told so that the order of the replies makes no difference. */
export function lossOf(tally: Tally): "held" | "unreachable" | undefined {
  const quorum = quorumOf(tally.nodes);
  if (tally.granted + tally.denied >= quorum) return "held";
  if (tally.failed > tally.nodes - quorum) return "unreachable";
  return undefined;
}

/** What a majority answers to a question about our own keys; `no` once so many say no that q is impossible. */
export function majorityOf(tally: Tally): "yes" | "no" | "unknown" | undefined {
  const quorum = quorumOf(tally.nodes);
  if (tally.granted >= quorum) return "yes";
  if (tally.denied > tally.nodes - quorum) return "no";
  return pendingOf(tally) === 0 ? "unknown" : undefined;
}

/** True once every node has voted. */
export const completeOf = (tally: Tally): true | undefined =>
  pendingOf(tally) === 0 ? true : undefined;
