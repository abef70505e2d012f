import { mock } from "node:test";
import { Redlock } from "@redlatch/core";
import { memoryNode } from "@redlatch/testing";
import { expect, it } from "vitest";
import { runBlock } from "./run-block.ts";

// The guide's own tests become tests of this file.
await runBlock("docs/testing.md", "invoices.test.ts");

it("node:test's timers, which leave performance.now() alone, make a lease expire", async () => {
  const nodes = [memoryNode(), memoryNode(), memoryNode()];
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const lease = await new Redlock(nodes).acquire("invoice:42", { ttlMs: 10_000 });
    mock.timers.tick(9_000);
    expect(lease.isHeld()).toBe(true);
    expect(await new Redlock(nodes).tryAcquire("invoice:42")).toBe(null);
    mock.timers.tick(1_000);
    expect(lease.signal.aborted).toBe(true);
    expect(await new Redlock(nodes).tryAcquire("invoice:42")).not.toBe(null);
  } finally {
    mock.timers.reset();
  }
});
