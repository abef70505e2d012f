import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Lease, Redlock } from "@redlatch/core";
import { expect, it } from "vitest";
import { type Bench, bench, heard } from "./bench.ts";

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;

/** In a function of its own, so that no frame keeps the lease. */
async function forget(b: Bench, redlock: Redlock, end?: (lease: Lease) => unknown): Promise<void> {
  const lease = await b.run(redlock.acquire("a"));
  await end?.(lease);
}

async function collected(until: () => boolean): Promise<void> {
  for (let turn = 0; turn < 15 && !until(); turn++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it("tells of a lease that was forgotten while held, and lets it run out", async () => {
  const b = bench(3);
  const redlock = b.redlock({ ttlMs: 3_000, autoExtend: true });
  const forgotten = heard(redlock, "unreleased");
  await forget(b, redlock);
  await b.clock.advance(5_000);
  await collected(() => forgotten.length > 0);
  expect(forgotten).toEqual([{ resources: ["a"] }]);
  await b.clock.advance(3_001);
  expect(b.keys()).toEqual([]);
  await b.release(await b.run(redlock.acquire("a", { waitMs: 0 })));
});

it.each<[what: string, end: (lease: Lease) => unknown]>([
  ["was released", (lease) => lease.release()],
  ["was handed over", (lease) => lease.handOver()],
])("says nothing of one that %s", async (_, end) => {
  const b = bench(3);
  const redlock = b.redlock();
  const forgotten = heard(redlock, "unreleased");
  await forget(b, redlock, end);
  const other = heard(redlock, "unreleased");
  await collected(() => false);
  expect([...forgotten, ...other]).toEqual([]);
  await b.clock.advance(10_001);
});

it("says nothing of one that had expired", async () => {
  const b = bench(3);
  const redlock = b.redlock({ ttlMs: 1_000 });
  const forgotten = heard(redlock, "unreleased");
  await forget(b, redlock);
  await b.clock.advance(1_000);
  await collected(() => false);
  expect(forgotten).toEqual([]);
});

it("keeps nothing of a lease that found itself expired", async () => {
  const b = bench(3);
  const redlock = b.redlock({ ttlMs: 1_000 });
  let lease: WeakRef<Lease> | undefined;
  let isHeld: boolean | undefined;
  await forget(b, redlock, (held) => {
    lease = new WeakRef(held);
    b.clock.jumpWall(1_000);
    isHeld = held.isHeld();
  });
  expect(isHeld).toBe(false);
  await b.clock.advance(10_000);
  // Looking at the reference would keep the lease for this turn.
  await collected(() => false);
  expect(lease?.deref()).toBeUndefined();
});

it("says nothing of a lease that is still in use, by its signal or itself", async () => {
  const b = bench(3);
  const redlock = b.redlock({ autoExtend: true });
  const forgotten = heard(redlock, "unreleased");
  const lease = await b.run(redlock.acquire("a"));
  await b.clock.advance(20_000);
  await collected(() => false);
  expect(forgotten).toEqual([]);
  expect(lease.isHeld()).toBe(true);
  await b.release(lease);
});

it("says nothing while the work of using runs, also where it ignores its lease", async () => {
  const b = bench(3);
  const redlock = b.redlock({ ttlMs: 1_000 });
  const forgotten = heard(redlock, "unreleased");
  const work = b.watch(
    redlock.using("a", () => new Promise<void>((end) => void b.clock.after(20_000, end))),
  );
  await b.clock.advance(5_000);
  await collected(() => forgotten.length > 0);
  expect(forgotten).toEqual([]);
  await b.clock.advance(15_000);
  expect(work.state).toBe("resolved");
});
