import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { lost, refused } from "./tapped-node.ts";

describe("inspect", () => {
  it("says free where a quorum has no key", async () => {
    const b = bench(3);
    b.occupy([0], 5_000, "other:them");
    expect(await b.run(b.redlock().inspect("a"))).toEqual({
      resource: "a",
      verdict: "free",
      holder: { token: "other", owner: "them", remainingMs: 5_000 },
      nodes: [
        { node: "node-1", state: "held", token: "other", owner: "them", remainingMs: 5_000 },
        { node: "node-2", state: "free" },
        { node: "node-3", state: "free" },
      ],
    });
  });

  it("says held where one holder has a quorum, also in this very object", async () => {
    const b = bench(3);
    const redlock = b.redlock({ owner: "worker-1" });
    const lease = await b.run(redlock.acquire("a"));
    await b.clock.advance(1_000);
    const inspection = await b.run(redlock.inspect("a"));
    expect(inspection).toMatchObject({
      verdict: "held",
      holder: { token: "t1", owner: "worker-1", remainingMs: 9_000 },
    });
    expect(inspection.nodes).toHaveLength(3);
    await b.release(lease);
  });

  it("says split where nobody has a quorum and it is not free either", async () => {
    const b = bench();
    b.occupy([0, 1], 5_000, "other-1");
    b.occupy([2, 3], 5_000, "other-2");
    expect(await b.run(b.redlock().inspect("a"))).toMatchObject({ verdict: "split" });
  });

  it("says unreachable where fewer than a quorum answered, and rejects for nothing", async () => {
    const b = bench();
    b.node(0).fault = refused;
    b.node(1).fault = lost;
    b.node(2).fault = () => {
      throw new Error("sync");
    };
    const inspection = await b.run(b.redlock().inspect("a"));
    expect(inspection.verdict).toBe("unreachable");
    expect(inspection.holder).toBeUndefined();
    expect(inspection.nodes.map(({ state }) => state)).toEqual([
      "failed",
      "failed",
      "failed",
      "free",
      "free",
    ]);
    expect(b.clock.now).toBe(500);
  });

  it.each(["a:b", "line\nbreak", ":", "two words", "ünïcode ☃"])(
    "shows the owner label %j whole, and so does ResourceHeldError",
    async (owner) => {
      const b = bench(3);
      const lease = await b.run(b.redlock({ owner }).acquire("a"));
      const other = b.redlock();
      const inspection = await b.run(other.inspect("a"));
      expect(inspection.holder).toMatchObject({ token: "t1", owner });
      const error = await b.failure(other.acquire("a", { waitMs: 0 }));
      expect(error).toMatchObject({ code: "RESOURCE_HELD", owner });
      expect((error as Error).message).toContain(owner);
      await b.run(lease.extend());
      expect(await b.release(lease)).toBe("released");
    },
  );

  it("knows no remaining time of a key that never expires, and acquire waits it out", async () => {
    const b = bench(3);
    for (const { memory } of b.nodes) memory.execute(["SET", "lock:a", "other"]);
    const redlock = b.redlock();
    const inspection = await b.run(redlock.inspect("a"));
    expect(inspection).toMatchObject({ verdict: "held", holder: { token: "other" } });
    expect(inspection.holder?.remainingMs).toBeUndefined();
    const error = await b.failure(redlock.acquire("a", { waitMs: 1_000 }));
    expect(error).toMatchObject({ code: "RESOURCE_HELD", remainingMs: undefined });
  });

  it("changes nothing", async () => {
    const b = bench(3);
    b.occupy([0, 1], 5_000);
    const before = b.nodes.map(({ memory }) => memory.dump());
    await b.run(b.redlock().inspect("a"));
    expect(b.nodes.map(({ memory }) => memory.dump())).toEqual(before);
    expect(b.clock.pendingTimers).toBe(0);
  });
});

describe("forceRelease", () => {
  it("deletes the key on all nodes, whoever holds it", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    const operator = b.redlock();
    expect(await b.run(operator.forceRelease("a"))).toBe("released");
    expect(b.keys()).toEqual([]);
    const next = await b.run(operator.acquire("a", { waitMs: 0 }));
    expect(await b.failure(lease.extend())).toMatchObject({ code: "LEASE_LOST" });
    await b.clock.settle();
    expect(b.values()).toEqual(Array(5).fill(next.token));
    await b.release(next);
  });

  it("says expired where there was nothing, unreachable where nobody answered", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    expect(await b.run(redlock.forceRelease("a"))).toBe("expired");
    for (const node of b.nodes) node.fault = refused;
    expect(await b.run(redlock.forceRelease("a"))).toBe("unreachable");
  });

  it("is a loss for a lease of this very object, told at once", async () => {
    const b = bench(3);
    const redlock = b.redlock({ autoExtend: true });
    const losses = heard(redlock, "lost");
    const lease = await b.run(redlock.acquire("a"));
    await b.run(redlock.forceRelease("a"));
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST" });
    expect(losses).toHaveLength(1);
    await b.clock.settle();
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("of one of several resources is a loss of the lease on all of them", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    const losses = heard(redlock, "lost");
    const lease = await b.run(redlock.acquire(["b", "a"]));
    await b.run(redlock.forceRelease("b"));
    expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST", resources: ["a", "b"] });
    expect(losses).toMatchObject([{ resources: ["a", "b"], error: { resources: ["a", "b"] } }]);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it("touches no other resource", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("b"));
    await b.run(b.redlock().forceRelease("a"));
    expect(lease.isHeld()).toBe(true);
    await b.run(lease.extend());
    await b.release(lease);
  });
});
