import { describe, expect, it } from "vitest";
import { embeddedNodes } from "../src/demo/embedded-nodes.ts";
import { type Fault, faultsOf, heal, letHappen, quorumOf } from "../src/demo/faults.ts";

const first = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** The most nodes that are harmed at the same time. */
function mostHarmed(faults: readonly Fault[]): number {
  let [harmed, most] = [0, 0];
  for (const { kind } of faults) {
    harmed += kind === "kill" || kind === "hang" ? 1 : -1;
    most = Math.max(most, harmed);
  }
  expect(harmed).toBe(0);
  return most;
}

describe("the faults", () => {
  it.each([
    [1, 1, 0],
    [2, 2, 0],
    [3, 3, 1],
    [4, 4, 1],
    [5, 5, 2],
    [7, 7, 2],
    [5, 4, 1],
    [5, 3, 0],
    [6, 5, 1],
  ])("harm of %i nodes, %i of which answer, %i at a time", (nodes, answering, atOnce) => {
    const faults = faultsOf(nodes, first(answering), 1_000);
    expect(mostHarmed(faults)).toBe(atOnce);
    expect(answering - mostHarmed(faults)).toBeGreaterThanOrEqual(
      Math.min(answering, quorumOf(nodes)),
    );
    expect(faults).toHaveLength(atOnce === 0 ? 0 : 4);
  });

  it("fall only on nodes that answer, and on two different ones", () => {
    const nodes = new Set(faultsOf(5, [0, 2, 3, 4], 1_000).map(({ node }) => node));
    expect([...nodes].every((node) => [0, 2, 3, 4].includes(node))).toBe(true);
    expect(nodes.size).toBe(2);
  });

  it("keep a killed node away for longer than the shortest demo's leases live", () => {
    const faults = faultsOf(5, first(5), (6_000 * 2) / 3);
    const at = (kind: Fault["kind"]): number => faults.find((fault) => fault.kind === kind)!.atMs;
    expect(at("restart") - at("kill")).toBeGreaterThan(2_000);
  });

  it("happen to the nodes, in order, and are told", async () => {
    const nodeSet = embeddedNodes();
    const told: string[] = [];
    await letHappen(faultsOf(5, first(5), 50), nodeSet, new AbortController().signal, (text) => {
      told.push(`${text} (${nodeSet.nodes.map(({ state }) => state).join(" ")})`);
    });
    expect(told).toEqual([
      "node-2 is killed (up killed up up up)",
      "node-4 hangs (up killed up hung up)",
      "node-4 goes on with what it was sent (up killed up up up)",
      "node-2 is restarted, without its keys (up up up up up)",
    ]);
  });

  it("stop with the race and can be healed", async () => {
    const nodeSet = embeddedNodes();
    const stopped = new AbortController();
    await letHappen(faultsOf(5, first(5), 50), nodeSet, stopped.signal, (text) => {
      if (text.includes("hangs")) stopped.abort();
    });
    expect(nodeSet.nodes.map(({ state }) => state)).toEqual(["up", "killed", "up", "hung", "up"]);
    heal(nodeSet.nodes);
    expect(nodeSet.nodes.map(({ state }) => state)).toEqual(["up", "up", "up", "up", "up"]);
  });
});
