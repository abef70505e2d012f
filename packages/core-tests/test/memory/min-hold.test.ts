import { describe, expect, it } from "vitest";
import { bench } from "./bench.ts";

describe("minHoldMs", () => {
  it("lets the keys stand for the rest and keeps nobody waiting", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ minHoldMs: 3_000 }).acquire("a"));
    await b.clock.advance(1_000);
    expect(await b.release(lease)).toBe("released");
    expect(b.clock.now).toBe(1_000);
    expect(lease.isHeld()).toBe(false);
    for (const { memory } of b.nodes) expect(memory.dump()["lock:a"]?.remainingMs).toBe(2_000);
    expect(await b.run(b.redlock().tryAcquire("a"))).toBeNull();
    await b.clock.advance(2_001);
    expect(b.keys()).toEqual([]);
  });

  it("may be longer than the ttl", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 1_000, minHoldMs: 30_000 }).acquire("a"));
    expect(await b.release(lease)).toBe("released");
    await b.clock.advance(29_999);
    expect(b.values()).toEqual(Array(5).fill("t1"));
    await b.clock.advance(2);
    expect(b.keys()).toEqual([]);
  });

  // Until mended: the rest is reckoned by the clock by which more time has passed.
  it("stands for no less where the wall clock stepped forward", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ minHoldMs: 5_000 }).acquire("a"));
    b.clock.jumpWall(4_900);
    expect(await b.release(lease)).toBe("released");
    await b.clock.advance(4_990);
    const standing = b.values();
    await b.clock.advance(20);
    expect(b.keys()).toEqual([]);
    expect(standing).toEqual(Array(5).fill("t1"));
  });

  it("is over for work that took longer: the keys are deleted", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ minHoldMs: 3_000 }).acquire("a"));
    await b.clock.advance(3_000);
    await b.release(lease);
    expect(b.keys()).toEqual([]);
  });

  it("keeps a second tick of a job from running", async () => {
    const b = bench();
    const work = async () => "done";
    const options = { minHoldMs: 30_000 };
    const first = await b.run(b.redlock().tryUsing("cron", work, options));
    expect(first).toEqual({ ran: true, value: "done" });
    await b.clock.advance(10_000);
    const second = await b.run(b.redlock().tryUsing("cron", work, options));
    expect(second).toEqual({ ran: false, remainingMs: 20_000 });
    await b.clock.advance(20_001);
    const third = await b.run(b.redlock().tryUsing("cron", work, options));
    expect(third.ran).toBe(true);
    await b.clock.advance(30_001);
  });

  it("holds within one process, too", async () => {
    const b = bench();
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a", { minHoldMs: 2_000 }));
    const waiter = b.watch(redlock.acquire("a"));
    await b.release(lease);
    await b.clock.advance(1_999);
    expect(waiter.state).toBe("pending");
    await b.clock.advance(3_000);
    expect(waiter.state).toBe("resolved");
    await b.release(waiter.value);
  });

  it("does not keep a straggler's key longer than the others", async () => {
    const b = bench();
    b.node(4).fault = async ({ kind }, execute) => {
      if (kind === "acquire") await new Promise<void>((go) => void b.clock.after(1_500, go));
      return execute();
    };
    const lease = await b.run(b.redlock({ minHoldMs: 2_000 }).acquire("a"));
    await b.release(lease);
    await b.clock.advance(2_001);
    expect(b.keys()).toEqual([]);
  });

  it("does not bring a lost lease's keys back", async () => {
    const b = bench();
    const lease = await b.run(b.redlock({ ttlMs: 1_000, minHoldMs: 30_000 }).acquire("a"));
    await b.clock.advance(1_001);
    expect(lease.isHeld()).toBe(false);
    expect(await b.release(lease)).toBe("expired");
    expect(b.keys()).toEqual([]);
  });
});
