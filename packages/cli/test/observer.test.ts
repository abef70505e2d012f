import { Redlock } from "@redlatch/core";
import { memoryNode } from "@redlatch/testing";
import { describe, expect, it } from "vitest";
import { embeddedNodes } from "../src/demo/embedded-nodes.ts";
import type { DemoNode } from "../src/demo/node-set.ts";
import { type Observation, observationOf, observe } from "../src/demo/observer.ts";

describe("the observer", () => {
  it("reads holder and remaining time off each node, and what the demo did to it", async () => {
    const { nodes, connect } = embeddedNodes();
    const redlock = new Redlock(connect(), { nodeTimeoutMs: 50 });
    nodes[1]?.kill();
    nodes[3]?.hang();
    await redlock.acquire("race", { owner: "worker-3", ttlMs: 2_000 });
    const held = { state: "up", holder: "worker-3", remainingMs: expect.any(Number) };
    expect(observationOf(await redlock.inspect("race"), nodes)).toEqual({
      verdict: "held",
      holder: "worker-3",
      nodes: [
        { name: "node-1", ...held },
        { name: "node-2", state: "killed" },
        { name: "node-3", ...held },
        { name: "node-4", state: "hung" },
        { name: "node-5", ...held },
      ],
    });
  });

  it("calls a node failing that gives no answer though the demo did nothing to it", async () => {
    const server = memoryNode({ name: "redis-a" });
    server.kill();
    const node = { name: "redis-a", state: "up" } as DemoNode;
    const inspection = await new Redlock([server]).inspect("race");
    expect(observationOf(inspection, [node])).toEqual({
      verdict: "unreachable",
      nodes: [{ name: "redis-a", state: "failing" }],
    });
  });

  it("shows what it sees until it is stopped", async () => {
    const { nodes, connect } = embeddedNodes();
    const stop = new AbortController();
    const shown: Observation[] = [];
    await observe(new Redlock(connect()), "race", nodes, stop.signal, () => (observation) => {
      if (shown.push(observation) === 2) stop.abort();
    });
    expect(shown.map(({ verdict }) => verdict)).toEqual(["free", "free"]);
  });
});
