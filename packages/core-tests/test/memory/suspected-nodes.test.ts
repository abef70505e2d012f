import type { Redlock } from "@redlatch/core";
import { expect, it } from "vitest";
import { type Bench, bench, heard } from "./bench.ts";

const LIMIT_MS = 50;

/** A client whose nodes with these indexes have been silent until they are suspected. */
async function suspecting(b: Bench, indexes: readonly number[]): Promise<Redlock> {
  const redlock = b.redlock({ nodeTimeoutMs: LIMIT_MS });
  for (const index of indexes) b.node(index).fault = () => new Promise(() => {});
  for (let cycle = 0; cycle < 2; cycle++) {
    const lease = await b.run(redlock.acquire("warm-up", { waitMs: 0 }));
    await b.release(lease);
    await b.clock.advance(2 * LIMIT_MS);
  }
  return redlock;
}

const acquisitionsAt = (b: Bench, index: number): number =>
  b.node(index).sent.filter(({ kind }) => kind === "acquire").length;

it("are left out of attempts after three silences in a row, and of the releases of those attempts", async () => {
  const b = bench(5);
  const redlock = await suspecting(b, [0, 1]);
  await b.clock.advance(11_000);
  for (const index of [0, 1]) b.node(index).sent.length = 0;
  const lease = await b.run(redlock.acquire("a"));
  expect(lease.votes.filter(({ outcome }) => outcome === "granted")).toHaveLength(3);
  await b.release(lease);
  for (const index of [0, 1]) {
    // Whether it is back is all that it is asked.
    expect(b.node(index).sent.map(({ kind }) => kind)).toEqual(["look"]);
  }
});

it("are asked four times a second whether they are back, however many attempts there are", async () => {
  const b = bench(3);
  const redlock = await suspecting(b, [0]);
  await b.clock.advance(11_000);
  b.node(0).sent.length = 0;
  for (let cycle = 0; cycle < 100; cycle++) {
    await b.release(await b.run(redlock.acquire("a")));
    await b.clock.advance(10);
  }
  expect(b.node(0).sent.length).toBeLessThanOrEqual(5);
});

it("take part again once they have answered, which an event tells", async () => {
  const b = bench(3);
  const redlock = await suspecting(b, [0]);
  const recovered = heard(redlock, "nodeRecovered");
  b.node(0).fault = undefined;
  await b.clock.advance(250);
  await b.release(await b.run(redlock.acquire("a")));
  await b.clock.settle();
  expect(recovered).toEqual([{ node: "node-1" }]);
  const before = acquisitionsAt(b, 0);
  await b.release(await b.run(redlock.acquire("a")));
  expect(acquisitionsAt(b, 0)).toBe(before + 1);
});

it("are asked in the same round where the others are not enough", async () => {
  const b = bench(5);
  const redlock = await suspecting(b, [0, 1]);
  for (const index of [0, 1]) b.node(index).fault = undefined;
  for (const index of [3, 4]) b.node(index).fault = () => Promise.reject(new Error("refused"));
  const attempts = heard(redlock, "attempt");
  const lease = await b.run(redlock.acquire("a", { waitMs: 0 }));
  expect(attempts).toHaveLength(1);
  expect(
    lease.votes.filter(({ outcome }) => outcome === "granted").map(({ node }) => node),
  ).toEqual(["node-1", "node-2", "node-3"]);
  for (const index of [3, 4]) b.node(index).fault = undefined;
  await b.release(lease);
});

it("are not asked where the resource is held anyway", async () => {
  const b = bench(5);
  const redlock = await suspecting(b, [0, 1]);
  b.occupy([2, 3, 4]);
  const before = acquisitionsAt(b, 0);
  expect(await b.run(redlock.tryAcquire("a"))).toBeNull();
  expect(acquisitionsAt(b, 0)).toBe(before);
});

it("are named as suspected in the votes", async () => {
  const b = bench(3);
  const redlock = await suspecting(b, [0]);
  const lease = await b.run(redlock.acquire("a"));
  await b.clock.settle();
  const vote = lease.votes.find(({ node }) => node === "node-1");
  expect(vote).toMatchObject({
    outcome: "failed",
    cause: expect.objectContaining({ message: expect.stringMatching(/^suspected/) }),
  });
  await b.release(lease);
});
