import type { Redlock } from "@redlatch/core";
import { reasonText } from "../reason.ts";
import type { DemoNode } from "./node-set.ts";

/** Tells of nodes that fail, or answer again, though the demo did nothing to them. */
export function tellOfFailures(
  observer: Redlock,
  nodes: readonly DemoNode[],
  tell: (text: string) => void,
): void {
  const failing = new Set<string>();
  observer.on("nodeFailed", ({ node: name, cause }) => {
    if (nodes.find((node) => node.name === name)?.state !== "up") return;
    failing.add(name);
    tell(`${name} gives no answer: ${reasonText(cause)}`);
  });
  observer.on("nodeRecovered", ({ node: name }) => {
    if (failing.delete(name)) tell(`${name} answers again`);
  });
}
