import type { NodeSet } from "./node-set.ts";

/** What is going to happen. */
export function openingLines(
  workers: number,
  { nodes, embedded }: NodeSet,
  key: string,
): readonly string[] {
  const kind = embedded ? "embedded nodes" : "Redis servers";
  return [
    `${workers} workers race for one lock on ${nodes.length} ${kind};`,
    "each reads a counter, pauses, and writes it back plus one",
    ...(embedded ? [] : UNTOUCHED),
    ...(embedded ? [] : ["the only key used, gone at the end:", `  ${key}`]),
  ];
}

const UNTOUCHED = [
  "your servers are not touched: a switch in front of this demo's clients",
  "refuses or withholds commands, to show a server that is killed or hangs",
];
