import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { first, late, lost, mute, only, refused, slowReply } from "./tapped-node.ts";

describe("an extension", () => {
  it("moves the deadline to ttl - drift from its start, and raises every key", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    const startMs = lease.deadline - 9_898;
    await b.clock.advance(4_000);
    await b.run(lease.extend());
    expect(lease.deadline).toBe(startMs + 4_000 + 9_898);
    expect(b.node(0).memory.dump()["lock:a"]?.remainingMs).toBe(10_000);
    expect(b.sent("extend")).toHaveLength(5);
    await b.release(lease);
  });

  it("to another ttl goes on with that ttl", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock().acquire("a"));
    await b.run(lease.extend(30_000));
    expect(lease.remainingMs()).toBe(30_000 - 302);
    await b.clock.advance(1_000);
    await b.run(lease.extend());
    expect(lease.remainingMs()).toBe(30_000 - 302);
    await b.release(lease);
  });

  it("by addMs adds to what remains", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ driftFactor: 0 }).acquire("a"));
    expect(lease.remainingMs()).toBe(9_998);
    await b.run(lease.extend({ addMs: 5_000 }));
    expect(lease.remainingMs()).toBeGreaterThanOrEqual(9_998 + 5_000);
    expect(lease.remainingMs()).toBeLessThan(9_998 + 5_000 + 3);
    await b.release(lease);
  });

  it.each([
    [30_000, 5_000, 0.01],
    [10_000, 100, 0.01],
    [3_600_000, 1, 0.01],
    [1_000, 1, 0.5],
  ])(
    "of a ttl of %d by addMs %d with drift %d moves the deadline by no less",
    async (ttlMs, addMs, driftFactor) => {
      const b = bench(3);
      const lease = await b.run(b.redlock({ ttlMs, driftFactor }).acquire("a"));
      const before = lease.deadline;
      await b.run(lease.extend({ addMs }));
      expect(lease.deadline - before).toBeGreaterThanOrEqual(addMs);
      expect(lease.deadline - before).toBeLessThan(addMs + 5);
      await b.release(lease);
    },
  );

  it("by addMs twice at once adds twice: one round at a time", async () => {
    const b = bench(3);
    for (const node of b.nodes) node.fault = only("extend", slowReply(b.clock, 10));
    const lease = await b.run(b.redlock({ driftFactor: 0 }).acquire("a"));
    await b.run(Promise.all([lease.extend({ addMs: 5_000 }), lease.extend({ addMs: 5_000 })]));
    expect(lease.remainingMs()).toBeGreaterThan(9_998 + 10_000 - 30);
    expect(lease.remainingMs()).toBeLessThanOrEqual(9_998 + 10_000 + 4);
    await b.release(lease);
    await b.clock.advance(10);
  });

  it("never shortens: neither the deadline nor a key", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ ttlMs: 60_000 }).acquire("a"));
    const { deadline } = lease;
    await b.run(lease.extend(1_000));
    expect(lease.deadline).toBe(deadline);
    expect(b.node(0).memory.dump()["lock:a"]?.remainingMs).toBe(60_000);
    await b.release(lease);
  });

  it("that executes late takes nothing from a longer one that came before it", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    b.node(0).fault = only("extend", first(1, late(b.clock, 5_000)));
    await b.run(lease.extend(2_000));
    await b.run(lease.extend(60_000));
    await b.clock.advance(6_000);
    expect(b.node(0).memory.dump()["lock:a"]?.remainingMs).toBe(54_000);
    expect(b.node(1).memory.dump()["lock:a"]?.remainingMs).toBe(54_000);
    await b.release(lease);
  });

  it("whose replies are lost leaves the deadline where it was, and may be tried again", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    const { deadline } = lease;
    for (const node of b.nodes) node.fault = only("extend", mute);
    expect(await b.failure(lease.extend(60_000))).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    expect(lease.deadline).toBe(deadline);
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    for (const node of b.nodes) node.fault = undefined;
    await b.run(lease.extend(20_000));
    expect(lease.deadline).toBeGreaterThan(deadline);
    await b.release(lease);
    b.quietAfterMs = 70_000;
  });

  it("with lost replies to a shorter ttl lets no key be outlived by belief", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    for (const node of b.nodes) node.fault = only("extend", mute);
    await b.failure(lease.extend(100));
    expect(lease.remainingMs()).toBeGreaterThan(9_000);
    for (const { memory } of b.nodes) {
      expect(memory.dump()["lock:a"]?.remainingMs).toBeGreaterThan(lease.remainingMs());
    }
    await b.release(lease);
  });

  it("that ends after the deadline is a loss, whatever it answers", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 1_000, nodeTimeoutMs: 500 });
    const lease = await b.run(redlock.acquire("a"));
    await b.clock.advance(900);
    for (const node of b.nodes) node.fault = only("extend", slowReply(b.clock, 200));
    const error = await b.failure(lease.extend());
    expect(error).toMatchObject({ code: "LEASE_LOST" });
    expect(b.clock.now).toBe(988);
    expect(lease.isHeld()).toBe(false);
    await b.clock.advance(300);
    expect(lease.isHeld()).toBe(false);
    expect(b.keys()).toEqual([]);
  });

  it("after the deadline is a loss without a command", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 1_000 }).acquire("a"));
    await b.clock.advance(988);
    const error = await b.failure(lease.extend());
    expect(error).toMatchObject({ code: "LEASE_LOST", resources: ["a"] });
    expect(b.sent("extend")).toEqual([]);
  });

  it("of a released lease is refused", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    await b.release(lease);
    expect(await b.failure(lease.extend())).toMatchObject({ code: "LEASE_LOST" });
    expect(b.sent("extend")).toEqual([]);
  });

  it("needs only a quorum", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.node(0).memory.hang();
    b.node(1).memory.kill();
    await b.clock.advance(1_000);
    await b.run(lease.extend());
    expect(b.clock.now).toBe(1_000);
    expect(lease.remainingMs()).toBe(9_898);
    b.node(0).memory.resume();
    b.node(1).memory.restart({ persistence: "all" });
    await b.release(lease);
    await b.clock.settle();
  });

  it.each([
    [9, RangeError],
    [0.5, RangeError],
    [-1, RangeError],
    [Number.NaN, RangeError],
    [Infinity, RangeError],
    ["10s", TypeError],
    [null, TypeError],
    [{ addMs: 0 }, RangeError],
    [{ addMs: -5 }, RangeError],
    [{ addMs: 1.5 }, RangeError],
    [{ addMs: Number.NaN }, RangeError],
    [{ addMs: "5" }, TypeError],
    [{ addMs: null }, TypeError],
    [{}, TypeError],
    [{ ttlMs: 5_000 }, TypeError],
  ])("by %j is refused before any I/O", async (by, type) => {
    const b = bench(1);
    const lease = await b.run(b.redlock().acquire("a"));
    const error = await b.failure(lease.extend(by as never));
    await b.release(lease);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toMatch(/(ttlMs|addMs) must be .*got/);
    expect(b.sent("extend")).toEqual([]);
  });
});

describe("a repair", () => {
  it("puts the key back on a node that lost it, after the extension was renewed", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    await b.clock.advance(2_000);
    b.node(1).memory.flush();
    await b.run(lease.extend());
    await b.clock.settle();
    expect(b.values()).toEqual(["t1", "t1", "t1", "t1", "t1"]);
    const remainingMs = b.node(1).memory.dump()["lock:a"]?.remainingMs ?? 0;
    expect(remainingMs).toBeLessThanOrEqual(10_000);
    expect(remainingMs).toBeGreaterThanOrEqual(lease.remainingMs() - 1);
    await b.release(lease);
  });

  it("comes for a node that answers after the verdict, too", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.node(1).memory.flush();
    b.node(1).fault = only("extend", slowReply(b.clock, 100));
    await b.run(lease.extend());
    expect(b.clock.now).toBe(0);
    await b.clock.advance(100);
    expect(b.values()[1]).toBe("t1");
    await b.release(lease);
  });

  it("does not touch a node where somebody else holds the key", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.node(1).memory.flush();
    b.occupy([1], 5_000, "other");
    await b.run(lease.extend());
    await b.clock.settle();
    expect(b.values()[1]).toBe("other");
    expect(b.sent("acquire")).toHaveLength(5);
    await b.release(lease);
  });

  it("never counts: with three of five flushed the lease is lost and nothing is repaired", async () => {
    const b = bench();
    const redlock = b.redlock();
    const losses = heard(redlock, "lost");
    const lease = await b.run(redlock.acquire("a"));
    for (const node of b.nodes.slice(0, 3)) node.memory.flush();
    expect(await b.failure(lease.extend())).toMatchObject({ code: "LEASE_LOST" });
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST" });
    expect(losses).toHaveLength(1);
    expect(b.sent("acquire")).toHaveLength(5);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
    const next = await b.run(b.redlock().acquire("a", { waitMs: 0 }));
    await b.release(next);
  });

  it("waits for the verdict: none while it is unknown", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.node(0).memory.flush();
    b.node(1).memory.flush();
    for (const node of b.nodes.slice(2)) node.fault = only("extend", lost);
    expect(await b.failure(lease.extend())).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    await b.clock.settle();
    expect(b.values().slice(0, 2)).toEqual([null, null]);
    expect(lease.isHeld()).toBe(true);
    await b.release(lease);
    await b.clock.settle();
  });

  it("that executes late is released with the lease", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.node(1).memory.flush();
    b.node(1).fault = only("acquire", late(b.clock, 3_000));
    await b.run(lease.extend());
    await b.release(lease);
    await b.clock.advance(3_000);
    expect(b.keys()).toEqual([]);
  });

  it("puts all keys of a lease back", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock().acquire(["a", "b"]));
    b.node(1).memory.execute(["DEL", "lock:b"]);
    await b.run(lease.extend());
    await b.clock.settle();
    expect(b.values("lock:b")).toEqual(["t1", "t1", "t1"]);
    await b.release(lease);
  });
});

describe("a lock that was stolen on a majority", () => {
  it("is a loss at the next extension; the other holder's keys stay", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    b.occupy([0, 1, 2], 5_000, "other");
    expect(await b.failure(lease.extend())).toMatchObject({ code: "LEASE_LOST" });
    await b.clock.settle();
    expect(b.values()).toEqual(["other", "other", "other", null, null]);
  });
});

describe("a release", () => {
  it("goes after an extension still in flight on its node", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock().acquire("a"));
    b.node(0).fault = only("extend", late(b.clock, 200));
    const extension = b.watch(lease.extend());
    await b.clock.settle();
    const outcome = b.watch(lease.release());
    await b.clock.settle();
    expect(outcome).toMatchObject({ state: "resolved", value: "released", atMs: 0 });
    expect(b.node(0).sent.map(({ kind }) => kind)).toEqual(["acquire", "extend"]);
    await b.clock.advance(200);
    expect(b.node(0).sent.map(({ kind }) => kind)).toEqual(["acquire", "extend", "release"]);
    expect(extension.state).not.toBe("pending");
    expect(b.keys()).toEqual([]);
  });

  it("waits for it one node time limit at most", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ nodeTimeoutMs: 300 }).acquire("a"));
    for (const node of b.nodes) node.fault = only("extend", lost);
    b.watch(lease.extend());
    await b.clock.advance(100);
    const outcome = b.watch(lease.release());
    await b.clock.advance(1_000);
    expect(outcome.state).toBe("resolved");
    expect(outcome.atMs).toBeLessThanOrEqual(400);
    expect(b.keys()).toEqual([]);
  });

  it("of an expired lease resolves with expired and reports no error", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 1_000 }).acquire("a"));
    await b.clock.advance(2_000);
    expect(await b.release(lease)).toBe("expired");
  });

  it("of a lease that somebody else took over leaves their keys", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    for (const node of b.nodes) node.memory.flush();
    b.occupy([0, 1, 2, 3, 4], 5_000, "other");
    expect(await b.release(lease)).toBe("expired");
    expect(b.values()).toEqual(Array(5).fill("other"));
  });

  it("asked twice sends once and answers alike", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    const outcomes = await b.run(Promise.all([lease.release(), lease.release()]));
    expect(outcomes).toEqual(["released", "released"]);
    expect(await b.release(lease)).toBe("released");
    expect(b.sent("release")).toHaveLength(5);
  });

  it("makes the lease not held at once, before any answer", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    const outcome = b.watch(lease.release());
    expect(lease.isHeld()).toBe(false);
    expect(lease.remainingMs()).toBe(0);
    expect(() => lease.assertHeld()).toThrow(/"a".*released/);
    await b.clock.settle();
    expect(outcome.value).toBe("released");
    expect(lease.signal.aborted).toBe(false);
  });

  it("tells unreachable when nobody answers", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock().acquire("a"));
    for (const node of b.nodes) node.fault = refused;
    expect(await b.release(lease)).toBe("unreachable");
    for (const node of b.nodes) node.fault = undefined;
    await b.clock.advance(500);
    expect(b.keys()).toEqual([]);
  });
});
