import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { type Bench, bench, heard } from "./bench.ts";
import { afterMicrotasks } from "./microtasks.ts";
import { type Fault, late, lost, only, slowReply } from "./tapped-node.ts";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

describe("an abort", () => {
  it("before the call rejects at once with the reason, without I/O", async () => {
    const b = bench();
    const reason = { why: "too late" };
    const signal = AbortSignal.abort(reason);
    const redlock = b.redlock();
    for (const call of [
      () => redlock.acquire("a", { signal }),
      () => redlock.tryAcquire("a", { signal }),
      () => redlock.using("a", { signal }, () => 1),
      () => redlock.tryUsing("a", () => 1, { signal }),
    ]) {
      expect(await b.failure(call())).toBe(reason);
    }
    expect(b.sent()).toEqual([]);
    expect(b.clock.now).toBe(0);
    expect(listeners(signal)).toBe(0);
    await b.release(await b.run(redlock.acquire("a")));
  });

  it("with no reason given rejects with the signal's AbortError", async () => {
    const b = bench();
    const error = await b.failure(b.redlock().acquire("a", { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ name: "AbortError" });
  });

  it("may have undefined or null for a reason", async () => {
    const b = bench();
    const caller = new AbortController();
    b.occupy([0, 1, 2]);
    const seen = b.watch(b.redlock().acquire("a", { signal: caller.signal }));
    await b.clock.advance(10);
    caller.abort(null);
    await b.clock.settle();
    expect(seen).toMatchObject({ state: "rejected", error: null, atMs: 10 });
  });

  it.each<[what: string, fault: (b: Bench) => Fault]>([
    ["whose nodes answer late", (b) => late(b.clock, 200)],
    ["whose nodes execute at once and answer late", (b) => slowReply(b.clock, 200)],
    ["whose nodes hang", () => lost],
  ])("during a command %s rejects at once and leaves no key", async (_, fault) => {
    const b = bench();
    for (const node of b.nodes) node.fault = only("acquire", fault(b));
    const caller = new AbortController();
    const reason = new Error("enough");
    const seen = b.watch(b.redlock().acquire("a", { signal: caller.signal }));
    await b.clock.advance(50);
    expect(listeners(caller.signal)).toBe(1);
    caller.abort(reason);
    await b.clock.settle();
    expect(seen).toMatchObject({ state: "rejected", atMs: 50 });
    expect(seen.error).toBe(reason);
    expect(listeners(caller.signal)).toBe(0);
    await b.clock.advance(200);
    expect(b.keys()).toEqual([]);
  });

  it("by a listener of the winning attempt rejects with its reason and releases the keys", async () => {
    const b = bench();
    const redlock = b.redlock();
    const acquired = heard(redlock, "acquired");
    const caller = new AbortController();
    const reason = { why: "changed my mind" };
    redlock.on("attempt", ({ verdict }) => {
      if (verdict === "won") caller.abort(reason);
    });
    expect(await b.failure(redlock.acquire("a", { signal: caller.signal }))).toBe(reason);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
    expect(acquired).toEqual([]);
    await b.release(await b.run(redlock.tryAcquire("a")));
  });

  it("while the class of the error is awaited rejects at once", async () => {
    const b = bench();
    b.occupy([0, 1]);
    for (const node of b.nodes.slice(2)) node.fault = only("acquire", slowReply(b.clock, 400));
    b.node(2).fault = only("acquire", () => Promise.reject(new Error("down")));
    const caller = new AbortController();
    const seen = b.watch(b.redlock().acquire("a", { signal: caller.signal }));
    await b.clock.advance(50);
    caller.abort("stop");
    await b.clock.settle();
    expect(seen).toMatchObject({ error: "stop", atMs: 50 });
    await b.clock.advance(400);
    expect(b.keys()).toEqual([]);
  });

  it("during a pause rejects at once", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 60_000);
    const caller = new AbortController();
    const seen = b.watch(b.redlock().acquire("a", { signal: caller.signal }));
    await b.clock.advance(30);
    caller.abort("stop");
    await b.clock.settle();
    expect(seen).toMatchObject({ state: "rejected", error: "stop", atMs: 30 });
    expect(listeners(caller.signal)).toBe(0);
    expect(b.clock.pendingTimers).toBe(0);
    expect(b.keys()).toEqual([]);
  });

  it("in the local line rejects at once", async () => {
    const b = bench();
    const redlock = b.redlock();
    const held = await b.run(redlock.acquire("a"));
    const caller = new AbortController();
    const seen = b.watch(redlock.acquire("a", { signal: caller.signal }));
    await b.clock.advance(30);
    caller.abort("stop");
    await b.clock.settle();
    expect(seen).toMatchObject({ state: "rejected", error: "stop", atMs: 30 });
    expect(listeners(caller.signal)).toBe(0);
    expect(await b.release(held)).toBe("released");
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("in the pause after many local hand-overs rejects at once", async () => {
    const b = bench();
    const redlock = b.redlock({ retryDelayMs: 10 });
    const caller = new AbortController();
    const work = () => new Promise<void>((resolve) => void b.clock.after(10, resolve));
    const all = Array.from({ length: 100 }, () =>
      b.watch(redlock.using("a", { signal: caller.signal }, work)),
    );
    // Fifty retry delays of one lease after the other, then the pause.
    await b.clock.advance(505);
    const waiting = all.filter(({ state }) => state === "pending");
    expect(waiting.length).toBeGreaterThan(0);
    caller.abort("stop");
    await b.clock.settle();
    for (const seen of waiting) expect(seen).toMatchObject({ error: "stop", atMs: 505 });
    expect(listeners(caller.signal)).toBe(0);
  });

  it("of one shutdown signal reaches a hundred waiters; Node warns of no leak meanwhile", async () => {
    const b = bench(3);
    b.occupy([0, 1, 2], 60_000);
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on("warning", warned);
    const caller = new AbortController();
    const { signal } = caller;
    const redlocks = [b.redlock(), b.redlock()];
    const all = Array.from({ length: 100 }, (_, index) =>
      b.watch((redlocks[index % 2] ?? b.redlock()).acquire(`r${index}`, { signal, waitMs: 0 })),
    );
    const waiting = redlocks.flatMap((redlock) =>
      Array.from({ length: 50 }, () => b.watch(redlock.acquire("a", { signal }))),
    );
    await b.clock.advance(10);
    expect(all.every(({ state }) => state === "resolved")).toBe(true);
    const early = b.watch(redlocks[0]?.acquire("z", { signal }) ?? Promise.reject());
    await b.clock.settle();
    caller.abort("stop");
    await b.clock.settle();
    process.off("warning", warned);
    for (const seen of waiting) expect(seen).toMatchObject({ error: "stop", atMs: 10 });
    expect(warnings).toEqual([]);
    expect(listeners(signal)).toBe(0);
    for (const { value } of [...all, early]) await b.release(value);
  });

  it("during a restore rejects at once and leaves the handle good", async () => {
    const b = bench(3);
    const giver = await b.run(b.redlock().acquire("a"));
    const handle = giver.handOver();
    for (const node of b.nodes) node.fault = lost;
    const caller = new AbortController();
    const redlock = b.redlock();
    const seen = b.watch(redlock.restore(handle, { signal: caller.signal }));
    await b.clock.advance(10);
    caller.abort("stop");
    await b.clock.settle();
    expect(seen).toMatchObject({ error: "stop", atMs: 10 });
    for (const node of b.nodes) node.fault = undefined;
    await b.release(await b.run(redlock.restore(handle)));
    await b.clock.advance(500);
  });

  it("in any moment before a restored lease is told rejects with its reason", async () => {
    const told: boolean[] = [];
    for (let count = 0; count < 30; count++) {
      const b = bench(3);
      const handle = (await b.run(b.redlock().acquire("a"))).handOver();
      const redlock = b.redlock();
      const acquired = heard(redlock, "acquired");
      const caller = new AbortController();
      // The second of three answers decides; the abort comes ever later after it.
      b.node(1).fault = only("look", async (sent, execute) => {
        const reply = await late(b.clock, 10)(sent, execute);
        afterMicrotasks(count, () => {
          told.push(acquired.length > 0);
          caller.abort("stop");
        });
        return reply;
      });
      b.node(2).fault = only("look", lost);
      const seen = b.watch(redlock.restore(handle, { signal: caller.signal }));
      await b.clock.advance(10);
      if (told[count]) expect(seen.state, `${count}`).toBe("resolved");
      else expect(seen, `${count}`).toMatchObject({ state: "rejected", error: "stop" });
      for (const node of b.nodes) node.fault = undefined;
      await b.release(seen.value ?? (await b.run(redlock.restore(handle))));
    }
    // Every moment has been met: from before the answer counts to after the lease was told.
    expect(told).toEqual([...told].sort());
    expect(new Set(told).size).toBe(2);
  });

  it("does not reach a release: its cleanup has a limit of its own", async () => {
    const b = bench();
    const caller = new AbortController();
    const seen = b.watch(
      b.redlock().using("a", { signal: caller.signal }, () => {
        caller.abort("stop");
        return "ended";
      }),
    );
    await b.clock.settle();
    expect(seen.value).toBe("ended");
    expect(b.keys()).toEqual([]);
  });

  it("leaves no listener on a long-lived signal, however often it is used", async () => {
    const b = bench(3);
    const { signal } = new AbortController();
    const redlock = b.redlock();
    for (let round = 0; round < 50; round++) {
      await b.run(redlock.using("a", { signal }, () => {}));
      await b.run(redlock.tryUsing("a", () => {}, { signal }));
      await b.release(await b.run(redlock.acquire("a", { signal })));
    }
    b.occupy([0, 1], 60_000);
    await b.failure(redlock.acquire("a", { signal, waitMs: 500 }));
    await b.run(redlock.tryAcquire("a", { signal }));
    await b.failure(redlock.using("a", { signal, waitMs: 0 }, () => {}));
    expect(listeners(signal)).toBe(0);
  });

  it("does not abort commands that set keys: their answer can still be learned", async () => {
    const b = bench(3);
    for (const node of b.nodes) node.fault = only("acquire", lost);
    const caller = new AbortController();
    b.watch(b.redlock().acquire("a", { signal: caller.signal }));
    await b.clock.advance(50);
    caller.abort("stop");
    await b.clock.advance(1_000);
    for (const { options } of b.sent("acquire")) expect(options.signal.aborted).toBe(false);
    await b.clock.advance(10_000);
    for (const { options } of b.sent("acquire")) expect(options.signal.aborted).toBe(true);
  });
});
