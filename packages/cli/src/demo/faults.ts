import { setTimeout as sleep } from "node:timers/promises";
import type { DemoNode, NodeSet } from "./node-set.ts";

/** Something that happens to a node. */
export interface Fault {
  /** From the start of the race, in milliseconds. */
  readonly atMs: number;
  readonly node: number;
  readonly kind: "kill" | "restart" | "hang" | "resume";
}

export const quorumOf = (nodes: number): number => Math.floor(nodes / 2) + 1;

/**
 * One node killed and one hung: at the same time where the quorum can spare two, else one by one, else none.
 *
 * @param nodes - How many there are.
 * @param answering - The places of those that answer to begin with.
 */
export function faultsOf(
  nodes: number,
  answering: readonly number[],
  raceMs: number,
): readonly Fault[] {
  const spare = answering.length - quorumOf(nodes);
  if (spare < 1) return [];
  const [, killed, third, fourth] = answering as [number, number, number, number?];
  const [killedAt, restartedAt, hungAt, resumedAt] =
    spare >= 2 ? [0.2, 0.85, 0.4, 0.7] : [0.15, 0.45, 0.55, 0.85];
  const hung = fourth ?? third;
  const faults: Fault[] = [
    { atMs: killedAt * raceMs, node: killed, kind: "kill" },
    { atMs: restartedAt * raceMs, node: killed, kind: "restart" },
    { atMs: hungAt * raceMs, node: hung, kind: "hang" },
    { atMs: resumedAt * raceMs, node: hung, kind: "resume" },
  ];
  return faults.sort((one, other) => one.atMs - other.atMs);
}

/** Lets the faults happen until all have, or the signal aborts. */
export async function letHappen(
  faults: readonly Fault[],
  nodeSet: NodeSet,
  signal: AbortSignal,
  happened: (text: string) => void,
): Promise<void> {
  let nowMs = 0;
  for (const fault of faults) {
    await sleep(fault.atMs - nowMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    nowMs = fault.atMs;
    const node = nodeSet.nodes[fault.node] as DemoNode;
    node[fault.kind]();
    const [real, switched] = FAULT_TEXTS[fault.kind];
    happened(`${node.name} ${nodeSet.embedded ? real : switched}`);
  }
}

/** Ends whatever was done to the nodes. */
export function heal(nodes: readonly DemoNode[]): void {
  for (const node of nodes) {
    if (node.state === "hung") node.resume();
    if (node.state === "killed") node.restart();
  }
}

/** For nodes that the demo owns, and for servers that it must leave alone. */
const FAULT_TEXTS: Record<Fault["kind"], readonly [embedded: string, switched: string]> = {
  kill: ["is killed", 'is "killed" by its switch'],
  restart: ["is restarted, without its keys", "is let through again"],
  hang: ["hangs", "hangs behind its switch"],
  resume: ["goes on with what it was sent", "goes on with what it was sent"],
};
