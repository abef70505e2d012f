import { type MemoryNode, memoryNode } from "@redlatch/testing";
import type { DemoNode, NodeSet } from "./node-set.ts";

/** Nodes inside this process, `node-1` and on. */
export function embeddedNodes(count = 5): NodeSet {
  const memoryNodes = Array.from({ length: count }, (_, index) =>
    memoryNode({ name: `node-${index + 1}` }),
  );
  return {
    nodes: memoryNodes.map(demoNodeOf),
    embedded: true,
    nodeTimeoutMs: 50,
    connect: () => memoryNodes,
    close() {},
  };
}

const demoNodeOf = (node: MemoryNode): DemoNode => ({
  name: node.name,
  get state() {
    return node.state === "down" ? "killed" : node.state;
  },
  kill: () => node.kill(),
  // Without its keys: the hard case.
  restart: () => node.restart(),
  hang: () => node.hang(),
  resume: () => node.resume(),
});
