import { describe, expect, it } from "vitest";
import { bench } from "./bench.ts";
import { late, only, refused } from "./tapped-node.ts";

describe("waitUntil", () => {
  it("gets every promise of work that goes on after an answer", async () => {
    const b = bench();
    const kept: Promise<unknown>[] = [];
    const waitUntil = (promise: Promise<unknown>) => void kept.push(promise);
    b.node(4).fault = only("release", late(b.clock, 300));
    const lease = await b.run(b.redlock({ waitUntil }).acquire("a"));
    expect(await b.release(lease)).toBe("released");
    expect(b.clock.now).toBe(0);
    expect(kept.length).toBeGreaterThan(0);
    const all = b.watch(Promise.all(kept));
    await b.clock.advance(299);
    expect(all.state).toBe("pending");
    await b.clock.advance(1);
    expect(all.state).toBe("resolved");
    expect(b.keys()).toEqual([]);
  });

  it("gets releases that have to be tried again, until they are done", async () => {
    const b = bench();
    const kept = new Set<Promise<unknown>>();
    const waitUntil = (promise: Promise<unknown>) => {
      kept.add(promise);
      promise.finally(() => kept.delete(promise));
    };
    const lease = await b.run(b.redlock({ waitUntil }).acquire("a"));
    b.node(0).fault = only("release", refused);
    await b.release(lease);
    await b.clock.settle();
    expect(kept.size).toBeGreaterThan(0);
    expect(b.keys()).toHaveLength(1);
    b.node(0).fault = undefined;
    for (let step = 0; step < 100 && kept.size > 0; step++) await b.clock.advance(100);
    expect(kept.size).toBe(0);
    expect(b.keys()).toEqual([]);
  });

  it("gets promises that never reject", async () => {
    const b = bench();
    const kept: Promise<unknown>[] = [];
    const waitUntil = (promise: Promise<unknown>) => void kept.push(promise);
    for (const node of b.nodes) node.fault = refused;
    await b.failure(b.redlock({ waitUntil }).acquire("a", { waitMs: 0 }));
    await b.clock.advance(11_000);
    expect(kept.length).toBeGreaterThan(0);
    const outcomes = await Promise.allSettled(kept);
    expect(outcomes.every(({ status }) => status === "fulfilled")).toBe(true);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no context");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no context"))],
  ])("that %s harms nobody", async (_, waitUntil) => {
    const b = bench();
    const redlock = b.redlock({ waitUntil: waitUntil as () => void });
    b.node(0).fault = only("release", refused);
    expect(await b.run(redlock.using("a", () => 1))).toBe(1);
    b.node(0).fault = undefined;
    await b.clock.advance(1_000);
    expect(b.keys()).toEqual([]);
    b.occupy([0, 1, 2]);
    expect(await b.run(redlock.tryAcquire("a"))).toBeNull();
  });
});
