import { RedlockClosedError } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import { type Bench, bench, heard } from "./bench.ts";
import { afterMicrotasks } from "./microtasks.ts";
import { late, lost, only } from "./tapped-node.ts";

const pause = (b: Bench, ms: number) =>
  new Promise<void>((resolve) => void b.clock.after(ms, resolve));

describe("close", () => {
  it("of an idle Redlock resolves at once and leaves no timer", async () => {
    const b = bench();
    await b.run(b.redlock().close());
    expect(b.clock.now).toBe(0);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("rejects those who wait: in the line, in a pause and during a command", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 60_000);
    const redlock = b.redlock();
    const paused = b.watch(redlock.acquire("a"));
    const inLine = b.watch(redlock.acquire("a"));
    await b.clock.settle();
    for (const node of b.nodes) node.fault = only("acquire", lost);
    const commanding = b.watch(redlock.acquire("b"));
    const trying = b.watch(redlock.tryAcquire("c"));
    const working = b.watch(redlock.using("d", () => 1));
    await b.clock.advance(10);
    const closed = b.watch(redlock.close());
    await b.clock.settle();
    for (const seen of [paused, inLine, commanding, trying, working]) {
      expect(seen.error).toBeInstanceOf(RedlockClosedError);
      expect(seen).toMatchObject({ atMs: 10, error: { code: "CLOSED" } });
    }
    await b.clock.advance(1_000);
    expect(closed.state).toBe("resolved");
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("by a listener of the winning attempt rejects the acquisition and releases the keys", async () => {
    const b = bench();
    const redlock = b.redlock();
    let closed = b.watch(Promise.resolve());
    redlock.on("attempt", ({ verdict }) => {
      if (verdict === "won") closed = b.watch(redlock.close());
    });
    const error = await b.failure(redlock.acquire("a"));
    expect(error).toBeInstanceOf(RedlockClosedError);
    await b.clock.settle();
    expect(closed).toMatchObject({ state: "resolved", atMs: 0 });
    expect(b.keys()).toEqual([]);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("in any moment before a restored lease is told rejects the restore", async () => {
    const told: boolean[] = [];
    for (let count = 0; count < 30; count++) {
      const b = bench(3);
      const handle = (await b.run(b.redlock().acquire("a"))).handOver();
      const redlock = b.redlock();
      const acquired = heard(redlock, "acquired");
      // The second of three answers decides; the closing comes ever later after it.
      b.node(1).fault = only("look", async (sent, execute) => {
        const reply = await late(b.clock, 10)(sent, execute);
        afterMicrotasks(count, () => {
          told.push(acquired.length > 0);
          b.watch(redlock.close());
        });
        return reply;
      });
      b.node(2).fault = only("look", lost);
      const seen = b.watch(redlock.restore(handle));
      await b.clock.advance(10);
      if (told[count]) expect(seen.state, `${count}`).toBe("resolved");
      else expect(seen.error, `${count}`).toBeInstanceOf(RedlockClosedError);
      for (const node of b.nodes) node.fault = undefined;
      await b.release(seen.value ?? (await b.run(b.redlock().restore(handle))));
    }
    expect(told).toEqual([...told].sort());
    expect(new Set(told).size).toBe(2);
  });

  it("leaves no key of those who waited", async () => {
    const b = bench(3);
    for (const node of b.nodes) node.fault = only("acquire", late(b.clock, 30));
    const redlock = b.redlock();
    const waiter = b.watch(redlock.acquire("a"));
    await b.clock.advance(10);
    const closed = b.watch(redlock.close());
    await b.clock.advance(100);
    expect(waiter.error).toMatchObject({ code: "CLOSED" });
    expect(closed.state).toBe("resolved");
    expect(b.keys()).toEqual([]);
  });

  it("aborts every lease.signal with RedlockClosedError", async () => {
    const b = bench();
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    const closed = b.watch(redlock.close());
    expect(lease.signal.reason).toBeInstanceOf(RedlockClosedError);
    expect(lease.signal.reason).toMatchObject({ code: "CLOSED", resources: ["a"] });
    await b.clock.settle();
    expect(closed.state).toBe("resolved");
    await b.release(lease);
  });

  it("waits for work that ends in time, and releases it", async () => {
    const b = bench();
    const redlock = b.redlock();
    const work = b.watch(
      redlock.using("a", async (lease) => {
        await new Promise<void>((resolve) => {
          lease.signal.addEventListener("abort", () => resolve());
        });
        await pause(b, 700);
        expect(lease.isHeld()).toBe(true);
        return "ended";
      }),
    );
    await b.clock.advance(10);
    const closed = b.watch(redlock.close());
    await b.clock.advance(699);
    expect(closed.state).toBe("pending");
    expect(b.values()).toContain("t1");
    await b.clock.advance(1);
    expect(work).toMatchObject({ value: "ended", atMs: 710 });
    expect(closed).toMatchObject({ state: "resolved", atMs: 710 });
    expect(b.keys()).toEqual([]);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("goes on extending for the work it waits for", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 1_000 });
    const work = b.watch(
      redlock.using("a", async (lease) => {
        await pause(b, 4_000);
        return lease.isHeld();
      }),
    );
    await b.clock.settle();
    b.watch(redlock.close());
    await b.clock.advance(4_000);
    expect(work.value).toBe(true);
  });

  it("after graceMs leaves the keys under work that still runs to expire, never deleted", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 3_000 });
    const work = b.watch(redlock.using("a", () => pause(b, 60_000)));
    await b.clock.settle();
    const closed = b.watch(redlock.close({ graceMs: 2_000 }));
    await b.clock.advance(1_999);
    expect(closed.state).toBe("pending");
    await b.clock.advance(1);
    expect(closed.state).toBe("resolved");
    expect(b.values()).toEqual(Array(5).fill("t1"));
    expect(b.sent("release")).toEqual([]);
    const extensions = b.sent("extend").length;
    // Only the work's own timer is left.
    expect(b.clock.pendingTimers).toBe(1);
    await b.clock.advance(3_001);
    expect(b.sent("release")).toEqual([]);
    expect(b.sent("extend")).toHaveLength(extensions);
    expect(b.keys()).toEqual([]);
    await b.clock.advance(60_000);
    expect(work.state).toBe("resolved");
  });

  it("waits 5 s by default", async () => {
    const b = bench();
    const redlock = b.redlock();
    b.watch(redlock.using("a", () => pause(b, 20_000)));
    await b.clock.settle();
    const closed = b.watch(redlock.close());
    await b.clock.advance(10_000);
    expect(closed).toMatchObject({ state: "resolved", atMs: 5_000 });
    await b.clock.advance(20_000);
  });

  it("with graceMs 0 waits for nobody", async () => {
    const b = bench();
    const redlock = b.redlock();
    b.watch(redlock.using("a", () => pause(b, 500)));
    await b.clock.settle();
    const closed = b.watch(redlock.close({ graceMs: 0 }));
    await b.clock.advance(0);
    expect(closed).toMatchObject({ state: "resolved", atMs: 0 });
    expect(b.values()).toContain("t1");
    await b.clock.advance(500);
    await b.clock.advance(10_001);
  });

  it("waits for work whose lease was won in the very moment of closing", async () => {
    const b = bench();
    const redlock = b.redlock();
    let closed = b.watch(Promise.resolve());
    redlock.on("acquired", () => {
      closed = b.watch(redlock.close());
    });
    const work = b.watch(redlock.using("a", () => pause(b, 300)));
    await b.clock.advance(299);
    const state = closed.state;
    await b.clock.advance(1);
    // Either the work never ran, or close waited for it.
    if (work.state === "resolved") expect(state).toBe("pending");
    else expect(work.error).toMatchObject({ code: "CLOSED" });
    expect(closed.state).toBe("resolved");
    expect(b.keys()).toEqual([]);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("leaves a lease that was not released to its owner: it expires or is released", async () => {
    const b = bench();
    const redlock = b.redlock({ autoExtend: true });
    const lease = await b.run(redlock.acquire("a"));
    await b.run(redlock.close());
    expect(b.values()).toContain("t1");
    expect(b.clock.pendingTimers).toBe(0);
    await b.clock.advance(1_000);
    expect(lease.isHeld()).toBe(true);
    expect(await b.release(lease)).toBe("released");
    expect(b.keys()).toEqual([]);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("leaves no timer of a straggler of a won acquisition", async () => {
    const b = bench();
    b.node(4).fault = lost;
    const redlock = b.redlock();
    await b.run(redlock.acquire("a"));
    await b.run(redlock.close());
    expect(b.clock.pendingTimers).toBe(0);
    b.node(4).fault = undefined;
    await b.clock.advance(10_001);
  });

  it("leaves no timer of an extension on its way", async () => {
    const b = bench();
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    for (const node of b.nodes) node.fault = lost;
    const extension = b.watch(lease.extend());
    await b.clock.advance(10);
    await b.run(redlock.close());
    expect(b.clock.pendingTimers).toBe(0);
    await b.clock.advance(10_001);
    expect(extension.state).not.toBe("pending");
  });

  it("leaves no timer of releases that go on in the background, and is bounded", async () => {
    const b = bench();
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    for (const node of b.nodes) node.fault = lost;
    expect(await b.release(lease)).toBe("unreachable");
    const startMs = b.clock.now;
    await b.clock.advance(700);
    await b.run(redlock.close());
    expect(b.clock.now - startMs).toBeLessThanOrEqual(700 + 500);
    expect(b.clock.pendingTimers).toBe(0);
    await b.clock.advance(10_001);
  });

  it("leaves no timer of an inspection on its way", async () => {
    const b = bench(3);
    for (const node of b.nodes) node.fault = lost;
    const redlock = b.redlock();
    const seen = b.watch(redlock.inspect("a"));
    await b.clock.advance(10);
    await b.run(redlock.close());
    expect(b.clock.pendingTimers).toBe(0);
    await b.clock.advance(1_000);
    expect(seen.state).not.toBe("pending");
  });

  it("ends extension by hand: it rejects without a command", async () => {
    const b = bench();
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    await b.run(redlock.close());
    for (const by of [undefined, 20_000, { addMs: 5_000 }]) {
      expect(await b.failure(lease.extend(by))).toBeInstanceOf(RedlockClosedError);
    }
    expect(b.sent("extend")).toEqual([]);
    expect(lease.isHeld()).toBe(true);
    await b.release(lease);
  });

  it("called twice is one: the second waits for the first", async () => {
    const b = bench();
    const redlock = b.redlock();
    b.watch(redlock.using("a", () => pause(b, 100)));
    await b.clock.settle();
    const both = [b.watch(redlock.close()), b.watch(redlock.close({ graceMs: 0 }))];
    await b.clock.advance(99);
    expect(both.map(({ state }) => state)).toEqual(["pending", "pending"]);
    await b.clock.advance(1);
    expect(both.map(({ state }) => state)).toEqual(["resolved", "resolved"]);
  });

  it("refuses a bad graceMs", async () => {
    const b = bench();
    const redlock = b.redlock();
    for (const [graceMs, type] of [
      [-1, RangeError],
      [Number.NaN, RangeError],
      ["5s", TypeError],
      [null, TypeError],
    ] as const) {
      const error = await b.failure(redlock.close({ graceMs: graceMs as never }));
      expect(error).toBeInstanceOf(type);
      expect((error as Error).message).toMatch(/graceMs must be/);
    }
    const lease = await b.run(redlock.acquire("a"));
    await b.release(lease);
  });

  it("makes everything after it reject, without I/O", async () => {
    const b = bench();
    const redlock = b.redlock();
    const giver = await b.run(redlock.acquire("z"));
    const handle = giver.handOver();
    await b.run(redlock.close());
    const before = b.sent().length;
    const calls = [
      () => redlock.acquire("a"),
      () => redlock.tryAcquire("a"),
      () => redlock.using("a", () => 1),
      () => redlock.tryUsing("a", () => 1),
      () => redlock.restore(handle),
      () => redlock.inspect("a"),
      () => redlock.forceRelease("a"),
    ];
    for (const call of calls) expect(await b.failure(call())).toBeInstanceOf(RedlockClosedError);
    expect(b.sent()).toHaveLength(before);
    await b.clock.advance(10_001);
  });
});
