import { describe, expect, it } from "vitest";
import { type Bench, bench } from "./bench.ts";
import { permutationsOf } from "./permutations.ts";
import { lateRefusal, only, slowReply } from "./tapped-node.ts";

const ORDERS = permutationsOf([1, 2, 3, 4, 5]);

/** The first `refusing` nodes refuse, the rest is held; node number i answers as number order[i]. */
function arranged(refusing: number, order: readonly number[]): Bench {
  const b = bench();
  b.occupy([0, 1, 2, 3, 4].slice(refusing));
  for (const [index, node] of b.nodes.entries()) {
    const afterMs = 10 * (order[index] as number);
    const fault = index < refusing ? lateRefusal : slowReply;
    node.fault = only("acquire", fault(b.clock, afterMs));
  }
  return b;
}

it("has every order", () => {
  expect(new Set(ORDERS.map(String)).size).toBe(120);
});

describe.each([
  { refusing: 2, code: "RESOURCE_HELD" },
  { refusing: 3, code: "QUORUM_UNREACHABLE" },
  { refusing: 0, code: "RESOURCE_HELD" },
  { refusing: 5, code: "QUORUM_UNREACHABLE" },
])("$refusing nodes refuse, the others are held by somebody: $code", ({ refusing, code }) => {
  it("for acquire, in every order of the replies", async () => {
    for (const order of ORDERS) {
      const b = arranged(refusing, order);
      const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
      expect(error, String(order)).toMatchObject({ code });
      expect(b.clock.now).toBeLessThanOrEqual(50);
    }
  });

  it("for tryAcquire: null or the error, in every order of the replies", async () => {
    for (const order of ORDERS) {
      const b = arranged(refusing, order);
      const attempt = b.watch(b.redlock().tryAcquire("a"));
      await b.clock.advance(50);
      if (code === "RESOURCE_HELD") expect(attempt.value, String(order)).toBeNull();
      else expect(attempt.error, String(order)).toMatchObject({ code });
    }
  });
});

it("wins with two refusals and three grants in every order of the replies", async () => {
  for (const order of ORDERS) {
    const b = bench();
    for (const [index, node] of b.nodes.entries()) {
      const fault = index < 2 ? lateRefusal : slowReply;
      node.fault = only("acquire", fault(b.clock, order[index] as number));
    }
    const lease = await b.run(b.redlock().acquire("a", { waitMs: 0 }));
    await b.release(lease);
    await b.clock.advance(10);
  }
});

it("says held where grants and denials make a quorum together: a split vote", async () => {
  for (const order of ORDERS) {
    const b = bench();
    b.occupy([0, 1], 5_000, "other-1");
    b.occupy([2, 3], 5_000, "other-2");
    for (const [index, node] of b.nodes.entries()) {
      node.fault = only("acquire", slowReply(b.clock, order[index] as number));
    }
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(error, String(order)).toMatchObject({ code: "RESOURCE_HELD" });
    await b.clock.advance(10);
  }
});
