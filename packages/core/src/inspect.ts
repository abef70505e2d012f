import { Claim } from "./claim.ts";
import type { Context } from "./context.ts";
import { type Holder, holderOf } from "./holder.ts";
import type { Settings } from "./options.ts";
import { quorumOf } from "./tally.ts";
import type { Vote } from "./vote.ts";

/** What one node says of a resource. */
export type NodeInspection =
  | { readonly node: string; readonly state: "free" }
  | {
      readonly node: string;
      readonly state: "held";
      readonly token?: string;
      readonly owner?: string;
      readonly remainingMs?: number;
    }
  | { readonly node: string; readonly state: "failed"; readonly cause: Error };

/** What all nodes say of a resource. */
export interface Inspection {
  readonly resource: string;
  /**
   * `held`: one holder has a quorum. `free`: a quorum has no key. `split`: neither, as in the middle of an
   * attempt or after lost data. `unreachable`: fewer nodes answered than a quorum takes.
   */
  readonly verdict: "free" | "held" | "split" | "unreachable";
  /** The holder that most nodes name, if any. */
  readonly holder?: Pick<Holder, "token" | "owner" | "remainingMs">;
  readonly nodes: readonly NodeInspection[];
}

/** Asks every node who holds `resource`; waits for all, each within its time limit. */
export async function inspect(
  context: Context,
  settings: Settings,
  resource: string,
): Promise<Inspection> {
  // A value that no key of ours holds: whatever is found is somebody's.
  const round = new Claim(context.quorum, settings, [resource], "").look();
  await round.complete();
  const nodes = round.votes.map(inspectionOf);
  const { nodes: names, ...holder } = holderOf(round.votes);
  const quorum = quorumOf(round.nodes);
  const count = (state: NodeInspection["state"]): number =>
    nodes.filter((node) => node.state === state).length;
  const verdict =
    names >= quorum
      ? "held"
      : count("free") >= quorum
        ? "free"
        : round.nodes - count("failed") >= quorum
          ? "split"
          : "unreachable";
  return { resource, verdict, nodes, ...(names > 0 && { holder }) };
}

function inspectionOf(vote: Vote): NodeInspection {
  const { node } = vote;
  if (vote.outcome === "failed") return { node, state: "failed", cause: vote.cause };
  if (vote.outcome === "denied" && vote.free) return { node, state: "free" };
  const { outcome, ...found } = vote;
  return { ...found, state: "held" };
}
