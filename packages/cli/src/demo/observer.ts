import { setTimeout as sleep } from "node:timers/promises";
import type { Inspection, NodeInspection, Redlock } from "@redlatch/core";
import type { DemoNode } from "./node-set.ts";

/** One line of the nodes' table. */
export interface NodeRow {
  readonly name: string;
  /** `failing`: it does not answer, and the demo is not to blame. */
  readonly state: DemoNode["state"] | "failing";
  readonly holder?: string;
  readonly remainingMs?: number;
}

/** What the nodes say of the lock at one moment. */
export interface Observation {
  readonly nodes: readonly NodeRow[];
  readonly verdict: Inspection["verdict"];
  readonly holder?: string;
}

const EVERY_MS = 100;

/**
 * Inspects the lock again and again until the signal aborts. `look` is called before each inspection, and
 * what it returns gets the result.
 */
export async function observe(
  redlock: Redlock,
  resource: string,
  nodes: readonly DemoNode[],
  signal: AbortSignal,
  look: () => (observation: Observation) => void,
): Promise<void> {
  while (!signal.aborted) {
    const show = look();
    const inspection = await redlock.inspect(resource);
    if (signal.aborted) return;
    show(observationOf(inspection, nodes));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

export function observationOf(inspection: Inspection, nodes: readonly DemoNode[]): Observation {
  const byName = new Map(inspection.nodes.map((said) => [said.node, said]));
  const { verdict, holder } = inspection;
  return {
    nodes: nodes.map((node) => rowOf(node, byName.get(node.name))),
    verdict,
    ...(verdict === "held" && holder && { holder: holder.owner ?? "somebody" }),
  };
}

function rowOf({ name, state }: DemoNode, said: NodeInspection | undefined): NodeRow {
  // What was asked before the demo harmed the node may be answered after.
  if (state === "up" && said?.state === "held") {
    const { owner = "somebody", remainingMs } = said;
    return { name, state, holder: owner, ...(remainingMs !== undefined && { remainingMs }) };
  }
  return { name, state: said?.state === "failed" && state === "up" ? "failing" : state };
}
