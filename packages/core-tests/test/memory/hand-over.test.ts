import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { lost, only, refused } from "./tapped-node.ts";

describe("handing a lease over", () => {
  it("gives plain JSON with which another process goes on", async () => {
    const b = bench();
    const giver = await b.run(b.redlock({ owner: "me:1\nx", ttlMs: 8_000 }).acquire(["b", "a"]));
    const handle = JSON.parse(JSON.stringify(giver.handOver())) as ReturnType<
      typeof giver.handOver
    >;
    expect(handle).toMatchObject({
      resources: ["a", "b"],
      token: "t1",
      owner: "me:1\nx",
      ttlMs: 8_000,
      heldSinceMs: b.clock.wallMs(),
    });
    const taker = await b.run(b.redlock().restore(handle));
    expect(taker.token).toBe(giver.token);
    expect(taker.resources).toEqual(["a", "b"]);
    expect(taker.isHeld()).toBe(true);
    expect(await b.release(taker)).toBe("released");
  });

  it("makes the giver not hold, not extend and not release", async () => {
    const b = bench();
    const giver = await b.run(b.redlock({ autoExtend: true }).acquire("a"));
    giver.handOver();
    expect(giver.isHeld()).toBe(false);
    expect(giver.remainingMs()).toBe(0);
    expect(() => giver.assertHeld()).toThrow(expect.objectContaining({ code: "LEASE_LOST" }));
    expect(giver.signal.aborted).toBe(false);
    expect(await b.failure(giver.extend())).toMatchObject({ code: "LEASE_LOST" });
    await b.release(giver);
    await giver[Symbol.asyncDispose]();
    await b.clock.advance(9_000);
    expect(b.sent("extend", "release")).toEqual([]);
    expect(b.values()).toEqual(Array(5).fill("t1"));
    expect(b.clock.pendingTimers).toBe(0);
    await b.clock.advance(1_001);
  });

  it("of a lease that is not ours throws", async () => {
    const b = bench(3);
    const released = await b.run(b.redlock().acquire("a"));
    await b.release(released);
    expect(() => released.handOver()).toThrow(expect.objectContaining({ code: "LEASE_LOST" }));
    const expired = await b.run(b.redlock({ ttlMs: 100 }).acquire("a"));
    await b.clock.advance(100);
    expect(() => expired.handOver()).toThrow(expect.objectContaining({ code: "LEASE_LOST" }));
    const given = await b.run(b.redlock().acquire("a"));
    given.handOver();
    expect(() => given.handOver()).toThrow(expect.objectContaining({ code: "LEASE_LOST" }));
    await b.clock.advance(10_001);
  });

  it("inside using lets the work end without a release", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    const handle = await b.run(redlock.using("a", (lease) => lease.handOver()));
    expect(b.values()).toEqual(["t1", "t1", "t1"]);
    const taker = await b.run(b.redlock().restore(handle));
    await b.release(taker);
  });

  it("lets this process wait for the resource like anybody else", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    const giver = await b.run(redlock.acquire("a"));
    const waiter = b.watch(redlock.acquire("a"));
    const taker = await b.run(b.redlock().restore(giver.handOver()));
    await b.clock.advance(1_000);
    expect(waiter.state).toBe("pending");
    await b.release(taker);
    await b.clock.advance(2_000);
    await b.release(waiter.value);
  });
});

describe("restoring", () => {
  it("takes its deadline from the q-th largest remaining TTL, less drift", async () => {
    const b = bench();
    const giver = await b.run(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    for (const [index, ms] of [1_000, 9_000, 4_000, 7_000, 2_000].entries()) {
      b.node(index).memory.execute(["PEXPIRE", "lock:a", String(ms)]);
    }
    const taker = await b.run(b.redlock().restore(giver.handOver()));
    // 9000, 7000, 4000: of three votes the third lives for 4000 ms. Early answers are in node order.
    expect(taker.remainingMs()).toBeLessThanOrEqual(4_000 - 42);
    expect(taker.remainingMs()).toBeGreaterThan(0);
    await b.release(taker);
  });

  it("never promises more than a quorum keeps, whichever nodes answer first", async () => {
    for (const fast of [
      [0, 1, 2],
      [2, 3, 4],
      [0, 2, 4],
      [1, 3, 4],
    ]) {
      const b = bench();
      const giver = await b.run(b.redlock().acquire("a"));
      const ttls = [1_000, 9_000, 4_000, 7_000, 2_000];
      for (const [index, ms] of ttls.entries()) {
        b.node(index).memory.execute(["PEXPIRE", "lock:a", String(ms)]);
        if (!fast.includes(index)) b.node(index).fault = only("look", lost);
      }
      const taker = await b.run(b.redlock().restore(giver.handOver()));
      const least = Math.min(...fast.map((index) => ttls[index] ?? 0));
      expect(taker.remainingMs()).toBe(least - Math.ceil(least * 0.01) - 2);
      await b.release(taker);
      await b.clock.settle();
    }
  });

  it("counts from the start of its round, not from its answers", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock().acquire("a"));
    for (const node of b.nodes) {
      node.fault = only("look", async (_, execute) => {
        const reply = await execute();
        await new Promise<void>((resolve) => void b.clock.after(300, resolve));
        return reply;
      });
    }
    const taker = await b.run(b.redlock().restore(giver.handOver()));
    expect(taker.remainingMs()).toBe(9_898 - 300);
    await b.release(taker);
  });

  it("does not trust the other machine's clock", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock().acquire("a"));
    const handle = giver.handOver();
    b.clock.jumpWall(-3_600_000);
    await b.clock.advance(5_000);
    const taker = await b.run(b.redlock().restore(handle));
    expect(taker.remainingMs()).toBe(5_000 - 52);
    await b.release(taker);
  });

  it("rejects with LeaseLostError when fewer than q nodes still have the token", async () => {
    const b = bench();
    const giver = await b.run(b.redlock().acquire("a"));
    const handle = giver.handOver();
    for (const node of b.nodes.slice(0, 3)) node.memory.flush();
    const error = await b.failure(b.redlock().restore(handle));
    expect(error).toMatchObject({ code: "LEASE_LOST", resources: ["a"] });
    await b.clock.advance(10_001);
  });

  it("rejects with LeaseLostError when the token's keys have expired or are another's", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock().acquire("a"));
    const handle = giver.handOver();
    await b.clock.advance(10_001);
    expect(await b.failure(b.redlock().restore(handle))).toMatchObject({ code: "LEASE_LOST" });
    b.occupy([0, 1, 2], 5_000, "other");
    expect(await b.failure(b.redlock().restore(handle))).toMatchObject({ code: "LEASE_LOST" });
    await b.clock.settle();
    expect(b.values()).toEqual(["other", "other", "other"]);
  });

  it("rejects with LeaseLostError when only one of its resources is gone", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock().acquire(["a", "b"]));
    const handle = giver.handOver();
    for (const { memory } of b.nodes.slice(0, 2)) memory.execute(["DEL", "lock:b"]);
    expect(await b.failure(b.redlock().restore(handle))).toMatchObject({ code: "LEASE_LOST" });
    await b.clock.advance(10_001);
  });

  it("rejects with QuorumUnreachableError when too few answer, and the handle stays good", async () => {
    const b = bench();
    const giver = await b.run(b.redlock().acquire("a"));
    const handle = giver.handOver();
    for (const node of b.nodes.slice(0, 3)) node.fault = refused;
    const redlock = b.redlock();
    expect(await b.failure(redlock.restore(handle))).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    for (const node of b.nodes) node.fault = undefined;
    await b.clock.advance(1_000);
    const taker = await b.run(redlock.restore(handle));
    expect(taker.isHeld()).toBe(true);
    await b.release(taker);
  });

  it("tells a quorum that nobody knows of from a lost one: two hung nodes may still have the token", async () => {
    const b = bench();
    const giver = await b.run(b.redlock().acquire("a"));
    const handle = giver.handOver();
    b.node(2).memory.flush();
    for (const node of b.nodes.slice(3)) node.memory.hang();
    const redlock = b.redlock();
    expect(await b.failure(redlock.restore(handle))).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    for (const node of b.nodes.slice(3)) node.memory.resume();
    const taker = await b.run(redlock.restore(handle));
    expect(taker.isHeld()).toBe(true);
    expect(await b.release(taker)).toBe("released");
  });

  it.each([
    ["no ttl", {}],
    ["an undefined ttl", { ttlMs: undefined }],
  ])("with %s asked for goes on with the handle's own", async (_, options) => {
    const b = bench(3);
    const giver = await b.run(b.redlock({ ttlMs: 8_000 }).acquire("a"));
    const taker = await b.run(b.redlock().restore(giver.handOver(), options));
    await b.clock.advance(1_000);
    await b.run(taker.extend());
    expect(taker.remainingMs()).toBe(8_000 - 82);
    expect(b.sent("extend")[0]?.command.at(-1)).toBe("8000");
    await b.release(taker);
  });

  it("is told as an acquisition", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock().acquire(["b", "a"]));
    const redlock = b.redlock();
    const acquired = heard(redlock, "acquired");
    const taker = await b.run(redlock.restore(giver.handOver()));
    expect(acquired).toEqual([{ resources: ["a", "b"], attempts: 1, waitedMs: 0 }]);
    await b.release(taker);
  });

  it("carries the start of holding, so that maxHoldMs counts from there", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock().acquire("a"));
    await b.clock.advance(4_000);
    const options = { autoExtend: true, maxHoldMs: 6_000 };
    const taker = await b.run(b.redlock(options).restore(giver.handOver()));
    await b.clock.advance(1_999);
    expect(taker.signal.aborted).toBe(false);
    await b.clock.advance(2);
    expect(taker.signal.reason).toMatchObject({ code: "HOLD_LIMIT" });
    expect(taker.isHeld()).toBe(true);
    await b.release(taker);
  });

  it("extends and releases like any lease, under the owner's label", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock({ owner: "first" }).acquire("a"));
    const redlock = b.redlock({ autoExtend: true, owner: "second" });
    const taker = await b.run(redlock.restore(giver.handOver()));
    await b.clock.advance(30_000);
    expect(taker.isHeld()).toBe(true);
    expect(b.values()).toEqual(["t1:first", "t1:first", "t1:first"]);
    expect(await redlock.tryAcquire("a")).toBeNull();
    expect(await b.release(taker)).toBe("released");
  });

  it("releases keys that live longer than the ttl asked for last, also on a node that hung", async () => {
    const b = bench(3);
    b.quietAfterMs = 61_000;
    const giver = await b.run(b.redlock({ ttlMs: 60_000 }).acquire("a"));
    await b.run(giver.extend(1_000));
    const taker = await b.run(b.redlock().restore(giver.handOver()));
    expect(taker.remainingMs()).toBeGreaterThan(50_000);
    b.node(0).fault = refused;
    expect(await b.release(taker)).toBe("released");
    await b.clock.advance(20_000);
    b.node(0).fault = undefined;
    await b.clock.advance(39_000);
    expect(b.keys()).toEqual([]);
  });

  const good = { resources: ["a"], token: "t1", ttlMs: 10_000, heldSinceMs: 0 };
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["text", "handle"],
    ["a number", 7],
    ["an empty object", {}],
    ["no token", { ...good, token: undefined }],
    ["an empty token", { ...good, token: "" }],
    ["a token that is no text", { ...good, token: 5 }],
    ["no resources", { ...good, resources: undefined }],
    ["an empty list of resources", { ...good, resources: [] }],
    ["a resource that is no text", { ...good, resources: [1] }],
    ["no ttl", { ...good, ttlMs: undefined }],
    ["a ttl of text", { ...good, ttlMs: "10000" }],
    ["no start of holding", { ...good, heldSinceMs: undefined }],
    ["a start of holding that is no number", { ...good, heldSinceMs: Number.NaN }],
    ["an owner that is no text", { ...good, owner: 1 }],
  ])("refuses %s with a TypeError before any I/O", async (_, handle) => {
    const b = bench(1);
    expect(await b.failure(b.redlock().restore(handle as never))).toBeInstanceOf(TypeError);
    expect(b.sent()).toEqual([]);
  });
});
