import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { lost, only, refused } from "./tapped-node.ts";

describe("an even number of nodes", () => {
  it.each([
    { nodes: 2, busy: [0] },
    { nodes: 2, busy: [1] },
    { nodes: 4, busy: [0, 1] },
    { nodes: 4, busy: [2, 3] },
    { nodes: 4, busy: [0, 3] },
    { nodes: 6, busy: [1, 3, 5] },
  ])("decides a tie at once and releases its part: $nodes nodes, $busy deny", async (tie) => {
    const b = bench(tie.nodes);
    b.occupy(tie.busy);
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "RESOURCE_HELD" });
    expect(b.clock.now).toBe(0);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("gives up when two of four nodes deny, without the two that are hung", async () => {
    const b = bench(4);
    b.occupy([0, 1]);
    for (const node of b.nodes.slice(2)) node.fault = only("acquire", lost);
    const redlock = b.redlock({ nodeTimeoutMs: 500 });
    const attempts = heard(redlock, "attempt");
    const seen = b.watch(redlock.acquire("a", { waitMs: 0 }));
    await b.clock.settle();
    expect(attempts).toMatchObject([{ verdict: "lost", elapsedMs: 0 }]);
    expect(b.sent("release")).toHaveLength(4);
    await b.clock.advance(500);
    // Two denials are no quorum: nobody can tell that the resource is held.
    expect(seen).toMatchObject({ atMs: 500, error: { code: "QUORUM_UNREACHABLE" } });
  });

  it("is unreachable when half of it refuses, decided at once", async () => {
    const b = bench(4);
    for (const node of b.nodes.slice(0, 2)) node.fault = refused;
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    expect(b.clock.now).toBe(0);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it("lets two clients with two nodes each fall out of step and both through", async () => {
    const b = bench(4);
    b.occupy([0, 1], 80);
    const lease = await b.run(b.redlock().acquire("a"));
    expect(b.clock.now).toBe(100);
    await b.release(lease);
  });

  it.each([
    { nodes: 2, dead: 1 },
    { nodes: 4, dead: 2 },
  ])("keeps a lease's deadline after a tie in its extension: $nodes nodes", async (tie) => {
    const b = bench(tie.nodes);
    const lease = await b.run(b.redlock().acquire("a"));
    const { deadline } = lease;
    for (const node of b.nodes.slice(0, tie.dead)) node.fault = only("extend", refused);
    await b.clock.advance(1_000);
    expect(await b.failure(lease.extend())).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    expect(lease.deadline).toBe(deadline);
    expect(lease.isHeld()).toBe(true);
    for (const node of b.nodes) node.fault = undefined;
    await b.run(lease.extend());
    expect(lease.deadline).toBe(deadline + 1_000);
    await b.release(lease);
  });
});
