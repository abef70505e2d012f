import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";

describe("a lease that runs out", () => {
  it.each([10, 20, 999, 1_000, 1_001, 10_000, 3_600_000])(
    "of %i ms aborts its signal exactly at the deadline",
    async (ttlMs) => {
      const b = bench(3);
      b.quietAfterMs = ttlMs + 1_000;
      const lease = await b.run(b.redlock({ ttlMs }).acquire("a"));
      const validityMs = ttlMs - Math.ceil(ttlMs * 0.01) - 2;
      let abortedAtMs: number | undefined;
      lease.signal.addEventListener("abort", () => {
        abortedAtMs = b.clock.now;
      });
      await b.clock.advance(validityMs - 1);
      expect(lease.signal.aborted).toBe(false);
      expect(lease.remainingMs()).toBe(1);
      await b.clock.advance(1);
      expect(abortedAtMs).toBe(validityMs);
      expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST", resources: ["a"] });
      expect(lease.isHeld()).toBe(false);
      expect(lease.remainingMs()).toBe(0);
      expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: "LEASE_LOST" }));
    },
  );

  it("while a majority hangs aborts its signal exactly at the deadline", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ autoExtend: true }).acquire("a"));
    for (const node of b.nodes.slice(0, 3)) node.memory.hang();
    let abortedAtMs: number | undefined;
    lease.signal.addEventListener("abort", () => {
      abortedAtMs = b.clock.now;
    });
    await b.clock.advance(20_000);
    expect(abortedAtMs).toBe(9_898);
    for (const node of b.nodes) node.memory.resume();
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it("is undone on all nodes", async () => {
    const b = bench();
    await b.run(b.redlock({ ttlMs: 1_000 }).acquire("a"));
    await b.clock.advance(988);
    expect(b.sent("release")).toHaveLength(5);
    expect(b.keys()).toEqual([]);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("is told once, by one event", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 1_000 });
    const losses = heard(redlock, "lost");
    const lease = await b.run(redlock.acquire("a"));
    await b.clock.advance(5_000);
    lease.isHeld();
    expect(await b.release(lease)).toBe("expired");
    expect(losses).toHaveLength(1);
    expect(losses[0]).toMatchObject({ resources: ["a"], error: { code: "LEASE_LOST" } });
    expect(losses[0]?.error).toBe(lease.signal.reason);
  });

  it("keeps no process alive", async () => {
    const b = bench();
    await b.run(b.redlock({ ttlMs: 1_000, autoExtend: true, maxHoldMs: 2_000 }).acquire("a"));
    expect(b.clock.foregroundTimers).toBe(0);
    await b.clock.advance(10_000);
  });
});

describe("a loss is final", () => {
  it("after the wall clock jumped forward and back", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.clock.jumpWall(3_600_000);
    expect(lease.isHeld()).toBe(false);
    b.clock.jumpWall(-3_600_000);
    expect(lease.isHeld()).toBe(false);
    expect(lease.remainingMs()).toBe(0);
    expect(lease.signal.aborted).toBe(true);
    expect(await b.failure(lease.extend())).toMatchObject({ code: "LEASE_LOST" });
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it("also where nobody looked until the timer did", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.clock.jumpWall(3_600_000);
    await b.clock.advance(1_000);
    expect(lease.signal.aborted).toBe(true);
    b.clock.jumpWall(-3_600_000);
    expect(lease.isHeld()).toBe(false);
    await b.clock.settle();
  });

  it("for a lease that was extended in the same moment", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 1_000 }).acquire("a"));
    for (const node of b.nodes) {
      node.fault = async ({ kind }, execute) => {
        const reply = await execute();
        if (kind === "extend" && node === b.node(2)) b.clock.freeze(990);
        return reply;
      };
    }
    expect(await b.failure(lease.extend())).toMatchObject({ code: "LEASE_LOST" });
    expect(lease.isHeld()).toBe(false);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });
});

describe("two clocks are read", () => {
  it("the wall clock while the machine sleeps and the monotonic one stands still", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ autoExtend: true }).acquire("a"));
    b.suspend(9_897);
    expect(lease.isHeld()).toBe(true);
    b.suspend(1);
    expect(lease.isHeld()).toBe(false);
    await b.clock.settle();
    expect(lease.signal.aborted).toBe(true);
    expect(b.sent("extend")).toEqual([]);
  });

  it("the monotonic clock when the wall clock is set back", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.clock.jumpWall(-3_600_000);
    await b.clock.advance(9_897);
    expect(lease.isHeld()).toBe(true);
    await b.clock.advance(1);
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.aborted).toBe(true);
  });

  it("both as one pair, so that a sleep after a backward step and extensions shows at once", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ autoExtend: true }).acquire("a"));
    b.clock.jumpWall(-300_000);
    await b.clock.advance(60_000);
    expect(lease.isHeld()).toBe(true);
    b.suspend(60_000);
    expect(lease.isHeld()).toBe(false);
    await b.clock.settle();
  });

  it("in a blocked event loop, where timers are late", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.clock.freeze(9_898);
    expect(lease.signal.aborted).toBe(false);
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.aborted).toBe(true);
    expect(() => lease.assertHeld()).toThrow();
    await b.clock.settle();
  });

  it.each([true, false])(
    "at most a second after a sleep the signal tells, though nobody asked: autoExtend %s",
    async (autoExtend) => {
      const b = bench();
      b.quietAfterMs = 700_000;
      const lease = await b.run(b.redlock({ ttlMs: 600_000, autoExtend }).acquire("a"));
      b.suspend(700_000);
      await b.clock.advance(1_000);
      expect(lease.signal.aborted).toBe(true);
      expect(b.sent("extend")).toEqual([]);
    },
  );

  it("when the answers of an acquisition come after a sleep", async () => {
    const b = bench();
    for (const node of b.nodes) {
      node.fault = async (_, execute) => {
        const reply = await execute();
        if (node === b.node(2)) b.suspend(20_000);
        node.fault = undefined;
        return reply;
      };
    }
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
  });

  it("by a process that was stopped past its ttl: nothing is revived", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ autoExtend: true }).acquire("a"));
    await b.clock.advance(5_000);
    b.clock.freeze(30_000);
    b.occupy([0, 1, 2, 3, 4], 100_000, "other");
    await b.clock.settle();
    expect(lease.isHeld()).toBe(false);
    await b.clock.advance(20_000);
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST" });
    expect(b.values()).toEqual(Array(5).fill("other"));
  });
});
