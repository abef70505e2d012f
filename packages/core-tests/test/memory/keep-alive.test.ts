import { HoldLimitError } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { first, lost, only, refused, slowReply } from "./tapped-node.ts";

const timesOf = (sent: readonly { readonly atMs: number }[]): number[] => [
  ...new Set(sent.map(({ atMs }) => Math.round(atMs))),
];

describe("automatic extension", () => {
  it("runs at a third of the ttl", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 9_000, autoExtend: true }).acquire("a"));
    await b.clock.advance(30_000);
    const times = timesOf(b.sent("extend"));
    expect(times[0]).toBeGreaterThan(2_900);
    expect(times[0]).toBeLessThanOrEqual(3_000);
    for (const [index, atMs] of times.entries()) {
      if (index > 0) expect(atMs - (times[index - 1] ?? 0)).toBeCloseTo(3_000, -1);
    }
    expect(times).toHaveLength(10);
    expect(lease.isHeld()).toBe(true);
    await b.release(lease);
  });

  it("is off in acquire and on in using, unless asked for otherwise by call or constructor", async () => {
    for (const byConstructor of [undefined, true, false]) {
      for (const byCall of [undefined, true, false]) {
        const b = bench(1);
        const redlock = b.redlock({ ttlMs: 3_000, autoExtend: byConstructor });
        const options = { autoExtend: byCall };
        const wait = (key: string) => async () => {
          await b.clock.advance(1_500);
          const command = b.sent("extend").filter(({ options: { key: of } }) => of === key);
          return command.length > 0;
        };
        const lease = await redlock.acquire("a", options);
        const inAcquire = await wait("lock:a")();
        await b.release(lease);
        const adopted = await redlock.acquire("r");
        const restored = await redlock.restore(adopted.handOver(), options);
        const inRestore = await wait("lock:r")();
        await b.release(restored);
        const inUsing = await redlock.using("u", options, wait("lock:u"));
        const inTryUsing = await redlock.tryUsing("t", wait("lock:t"), options);
        const asked = byCall ?? byConstructor;
        expect([inAcquire, inRestore], `${byConstructor} ${byCall}`).toEqual(
          Array(2).fill(asked ?? false),
        );
        expect(inUsing, `${byConstructor} ${byCall}`).toBe(asked ?? true);
        expect(inTryUsing).toEqual({ ran: true, value: asked ?? true });
      }
    }
  });

  it("tries again quickly while the outcome is unknown", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 9_000, autoExtend: true }).acquire("a"));
    for (const node of b.nodes) node.fault = only("extend", first(2, refused));
    await b.clock.advance(6_000);
    const times = timesOf(b.sent("extend"));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeLessThanOrEqual(1_000);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeLessThanOrEqual(1_000);
    expect(lease.isHeld()).toBe(true);
    await b.release(lease);
  });

  it("survives a hung majority that comes back before the deadline", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ autoExtend: true }).acquire("a"));
    await b.clock.advance(3_000);
    for (const node of b.nodes.slice(0, 3)) node.memory.hang();
    await b.clock.advance(5_000);
    for (const node of b.nodes) node.memory.resume();
    await b.clock.advance(10_000);
    expect(lease.isHeld()).toBe(true);
    expect(await b.release(lease)).toBe("released");
    await b.clock.settle();
  });

  it("goes on with the ttl asked for last", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ ttlMs: 3_000, autoExtend: true }).acquire("a"));
    await b.run(lease.extend(30_000));
    await b.clock.advance(25_000);
    expect(lease.remainingMs()).toBeGreaterThan(10_000);
    expect(b.sent("extend").at(-1)?.command.at(-1)).toBe("30000");
    await b.release(lease);
  });

  it("reports a loss at once", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 9_000, autoExtend: true }).acquire("a"));
    for (const node of b.nodes.slice(0, 3)) node.memory.flush();
    await b.clock.advance(3_000);
    expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST" });
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
    const count = b.sent().length;
    await b.clock.advance(60_000);
    expect(b.sent()).toHaveLength(count);
  });

  it("ends with the release: no command and no timer after it", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 1_000, autoExtend: true }).acquire("a"));
    await b.clock.advance(5_000);
    await b.release(lease);
    expect(b.clock.pendingTimers).toBe(0);
    const count = b.sent().length;
    await b.clock.advance(5_000);
    expect(b.sent()).toHaveLength(count);
  });

  it("never has two rounds of one lease out at once", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ ttlMs: 3_000, autoExtend: true }).acquire("a"));
    for (const node of b.nodes) node.fault = only("extend", slowReply(b.clock, 50));
    const byHand = [lease.extend(), lease.extend(5_000), lease.extend({ addMs: 100 })];
    await b.clock.advance(10_000);
    await Promise.all(byHand);
    const times = b.node(0).sent.filter(({ kind }) => kind === "extend");
    expect(times.slice(0, 3).map(({ atMs }) => atMs)).toEqual([0, 50, 100]);
    for (const [index, { atMs }] of times.entries()) {
      if (index > 0) expect(atMs - (times[index - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(50);
    }
    await b.release(lease);
    await b.clock.advance(100);
  });
});

describe("maxHoldMs", () => {
  it("ends automatic extension with HoldLimitError while the lease still lasts", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 3_000, autoExtend: true, maxHoldMs: 10_000 });
    const lease = await b.run(redlock.acquire("a"));
    let abortedAtMs: number | undefined;
    lease.signal.addEventListener("abort", () => {
      abortedAtMs = b.clock.now;
    });
    await b.clock.advance(9_999);
    expect(lease.signal.aborted).toBe(false);
    // Epoch milliseconds have no exact fractions.
    await b.clock.advance(2);
    expect(abortedAtMs).toBeCloseTo(10_000, 1);
    expect(lease.signal.reason).toBeInstanceOf(HoldLimitError);
    expect(lease.signal.reason).toMatchObject({ code: "HOLD_LIMIT", resources: ["a"] });
    expect(lease.isHeld()).toBe(true);
    expect(lease.remainingMs()).toBeGreaterThan(0);
    const extensions = b.sent("extend").length;
    await b.clock.advance(3_000);
    expect(b.sent("extend")).toHaveLength(extensions);
    expect(lease.isHeld()).toBe(false);
  });

  it("counts from the first moment of holding, across extensions", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 1_000, autoExtend: true, maxHoldMs: 2_500 });
    const losses = heard(redlock, "lost");
    await b.run(redlock.acquire("a"));
    await b.clock.advance(5_000);
    expect(losses).toHaveLength(1);
    const last = b.sent("extend").at(-1)?.atMs ?? 0;
    expect(last).toBeLessThan(2_500);
  });

  it("does not limit a lease that its owner extends by hand", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 1_000, maxHoldMs: 1_500 }).acquire("a"));
    for (let step = 0; step < 10; step++) {
      await b.clock.advance(500);
      await b.run(lease.extend());
    }
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    await b.release(lease);
  });

  it("counts by the monotonic clock where the wall clock stepped back", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ autoExtend: true, maxHoldMs: 60_000 }).acquire("a"));
    await b.clock.advance(10_000);
    b.clock.jumpWall(-3_600_000);
    await b.clock.advance(49_999);
    expect(lease.signal.aborted).toBe(false);
    // Epoch milliseconds have no exact fractions.
    await b.clock.advance(2);
    expect(lease.signal.reason).toBeInstanceOf(HoldLimitError);
    await b.release(lease);
  });

  it("of Infinity never ends it", async () => {
    const b = bench(1);
    const redlock = b.redlock({ autoExtend: true, maxHoldMs: Number.POSITIVE_INFINITY });
    const lease = await b.run(redlock.acquire("a"));
    await b.clock.advance(4 * 3_600_000);
    expect(lease.isHeld()).toBe(true);
    await b.release(lease);
  });
});

describe("no storm of commands or timers", () => {
  it("at a ttl of 20 ms with extension", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ ttlMs: 20, autoExtend: true }).acquire("a"));
    await b.clock.advance(500);
    expect(lease.isHeld()).toBe(true);
    // Every third of a ttl, and not more often: 500 / 6.67 = 75 rounds.
    expect(b.node(0).sent.filter(({ kind }) => kind === "extend").length).toBeLessThanOrEqual(90);
    await b.release(lease);
  });

  it("after a long lease was asked for a short ttl: none before it moves the deadline", async () => {
    const b = bench(3);
    b.quietAfterMs = 61_000;
    const lease = await b.run(b.redlock({ ttlMs: 60_000, autoExtend: true }).acquire("a"));
    await b.run(lease.extend(20));
    // The lease lasts until 59.4 s: no sooner can so short an extension move it.
    await b.clock.advance(59_000);
    expect(b.node(0).sent.length).toBeLessThanOrEqual(5);
    await b.clock.advance(2_000);
    expect(lease.isHeld()).toBe(true);
    await b.release(lease);
  });

  it("at a ttl of 20 ms whose nodes hang", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ ttlMs: 20, autoExtend: true }).acquire("a"));
    for (const node of b.nodes) node.fault = lost;
    await b.clock.advance(500);
    expect(lease.isHeld()).toBe(false);
    expect(b.sent().length).toBeLessThan(60);
    for (const node of b.nodes) node.fault = undefined;
  });

  it("at a ttl of 20 ms whose nodes refuse", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock({ ttlMs: 20, autoExtend: true }).acquire("a"));
    for (const node of b.nodes) node.fault = refused;
    await b.clock.advance(500);
    expect(lease.isHeld()).toBe(false);
    expect(b.sent().length).toBeLessThan(60);
  });

  it.each([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 + 5, 2 ** 40])(
    "at a ttl of %i ms with extension",
    async (ttlMs) => {
      const b = bench(3);
      const lease = await b.run(b.redlock({ ttlMs, autoExtend: true }).acquire("a"));
      await b.clock.advance(60_000);
      expect(lease.isHeld()).toBe(true);
      expect(b.sent()).toHaveLength(3);
      expect(b.clock.pendingTimers).toBeLessThanOrEqual(1);
      await b.release(lease);
      expect(b.clock.pendingTimers).toBe(0);
    },
  );

  it("while waiting longer than 2^31 ms", async () => {
    const b = bench(3);
    b.occupy([0, 1, 2], 3_000);
    const lease = await b.run(b.redlock().acquire("a", { waitMs: 2 ** 33 }));
    expect(b.sent("acquire").length).toBeLessThan(30);
    await b.release(lease);
  });
});
