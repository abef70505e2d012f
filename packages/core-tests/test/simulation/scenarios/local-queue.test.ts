import { describe, expect, it } from "vitest";
import { expectKept, linesOf, type Part } from "../scenario.ts";

describe("calls that wait in one process", () => {
  it("get the lock in the order in which they came, and one of them competes", async () => {
    const order: number[] = [];
    const caller: Part = async (client) => {
      const first = await client.acquire("a");
      const waiting = [1, 2, 3, 4].map(async (number) => {
        const holding = await client.acquire("a");
        order.push(number);
        await client.sleep(3);
        await holding.release();
      });
      await client.sleep(10);
      await first.release();
      await Promise.all(waiting);
    };
    const result = await expectKept([caller]);
    expect(order).toEqual([1, 2, 3, 4]);
    // Each needed one attempt: nobody asked a node before it was its turn.
    expect(linesOf(result, "n1").filter((line) => /n1 acquire c1/.test(line))).toHaveLength(5);
  });

  it("do not hold each other up for ever where they need several resources", async () => {
    const caller: Part = async (client) => {
      const sets = [["a", "b"], ["b", "c"], ["c", "a"], ["a"], ["c", "b", "a"]];
      await Promise.all(
        sets.map(async (resources) => {
          const holding = await client.acquire(resources);
          await client.sleep(5);
          await holding.release();
        }),
      );
    };
    await expectKept([caller, caller], [], {
      traits: { resources: ["a", "b", "c"] },
      options: { retryJitter: 0.9 },
    });
  });

  it("report what the first of them knows when their patience ends", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a", { owner: "the other" });
      await client.sleep(150);
      await holding.release();
    };
    const caller: Part = async (client) => {
      await client.sleep(10);
      const first = client.acquire("a");
      const error = await client.acquire("a", { waitMs: 40 }).catch((reason) => reason);
      expect(error.code).toBe("RESOURCE_HELD");
      expect(error.owner).toBe("the other");
      await (await first).release();
    };
    await expectKept([holder, caller]);
  });
});
