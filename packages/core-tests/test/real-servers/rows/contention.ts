import { setTimeout as sleep } from "node:timers/promises";
import type { RedisNode } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { wrapped } from "../harness/wrapped-node.ts";

/** Lets the first commands to this node arrive as late as given. */
const delayed = (node: RedisNode, delaysMs: number[]): RedisNode =>
  wrapped(node, async (send) => {
    const delayMs = delaysMs.shift() ?? 0;
    if (delayMs > 0) await sleep(delayMs);
    return send();
  });

export function contention(harness: Harness): void {
  describe(`contention (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const retryDelayMs = 50;
    /** The row's own: so long that whoever sleeps until it ends is found out. */
    const ttlMs = 10_000;

    it("lets a waiter without notifications in soon after a release, not a whole ttl later", async () => {
      const [holder, waiter] = await Promise.all([
        bed.client({ ttlMs }),
        bed.client({ ttlMs, retryDelayMs }),
      ]);
      const lease = await holder.acquire("a");
      const acquired = waiter.acquire("a").then((next) => ({ next, atMs: performance.now() }));
      await sleep(50);
      const releasedAtMs = performance.now();
      await lease.release();
      const { next, atMs } = await acquired;
      // Backoff by then: 50, 100 or 200 ms, half as much again at the most.
      expect(atMs - releasedAtMs).toBeLessThan(ttlMs / 5);
      await next.release();
      await bed.expectNothingLeft();
    });

    it("lets everybody in soon after four clients split the votes", async () => {
      const losses = [0, 0, 0, 0];
      const redlocks = await Promise.all(
        losses.map(async (_, mine) => {
          const nodes = await bed.connectedNodes();
          const redlock = bed.redlock(
            // First at one node, late at the others; nobody undoes before everybody has asked.
            nodes.map((node, index) => delayed(node, index === mine ? [0, 150] : [40, 150])),
            { ttlMs, retryDelayMs },
          );
          redlock.on("attempt", ({ verdict }) => {
            if (verdict === "lost") losses[mine]!++;
          });
          return redlock;
        }),
      );
      let inside = 0;
      const startedMs = performance.now();
      const work = async () => {
        expect(++inside).toBe(1);
        await sleep(20);
        inside--;
      };
      await Promise.all(redlocks.map((redlock) => redlock.using("a", work)));
      // Each had one vote, the fifth node's made two: nobody could win at first.
      expect(losses.every((count) => count > 0)).toBe(true);
      expect(performance.now() - startedMs).toBeLessThan(ttlMs / 3);
      await bed.expectNothingLeft();
    });

    it("loses no update of 8 clients that race for one resource", async () => {
      const redlocks = await Promise.all(
        Array.from({ length: 8 }, () => bed.client({ retryDelayMs })),
      );
      let count = 0;
      const increment = async () => {
        const read = count;
        await sleep(1);
        count = read + 1;
      };
      await Promise.all(
        redlocks.flatMap((redlock) =>
          Array.from({ length: 5 }, () =>
            redlock.using("a", { waitMs: Number.POSITIVE_INFINITY }, increment),
          ),
        ),
      );
      expect(count).toBe(40);
      await bed.expectNothingLeft();
    });

    describe("two tasks that share one Redlock", () => {
      it("exclude each other", async () => {
        const redlock = await bed.client();
        let inside = 0;
        const work = async () => {
          expect(++inside).toBe(1);
          await sleep(5);
          inside--;
        };
        await Promise.all(Array.from({ length: 20 }, () => redlock.using("a", work)));
        await bed.expectNothingLeft();
      });

      it("come in first in, first out", async () => {
        const redlock = await bed.client();
        const order: number[] = [];
        const numbers = Array.from({ length: 20 }, (_, index) => index);
        await Promise.all(
          numbers.map((number) => redlock.using("a", () => void order.push(number))),
        );
        expect(order).toEqual(numbers);
      });

      it("do so with overlapping sets of resources, without a deadlock", async () => {
        const redlock = await bed.client();
        const inside = new Set<string>();
        const sets = [["a", "b"], ["b", "c"], ["c", "a"], ["b"], ["a", "b", "c"], ["c"]];
        await Promise.all(
          [...sets, ...sets].map((resources) =>
            redlock.using(resources, async () => {
              for (const resource of resources) {
                expect(inside.has(resource)).toBe(false);
                inside.add(resource);
              }
              await sleep(5);
              for (const resource of resources) inside.delete(resource);
            }),
          ),
        );
        await bed.expectNothingLeft();
      });

      it("get null at once, without asking a node, where the other one holds", async () => {
        const redlock = await bed.client();
        const lease = await redlock.acquire("a");
        await bed.hang(5);
        expect(await redlock.tryAcquire("a")).toBeNull();
        await bed.resume();
        await lease.release();
      });
    });

    describe.each([2, 4])("a tie of %i nodes", (count) => {
      const half = count / 2;
      const nodeTimeoutMs = bed.ttlMs / 4;

      it("is decided at once, and partial keys are released", async () => {
        const redlock = bed.redlock((await bed.connectedNodes()).slice(0, count), {
          nodeTimeoutMs,
        });
        await bed.occupy("a", bed.servers.slice(0, half));
        const startedMs = performance.now();
        expect(await redlock.tryAcquire("a")).toBeNull();
        expect(performance.now() - startedMs).toBeLessThan(nodeTimeoutMs);
        await bed.expectNothingLeft("a");
        const expected = Array.from({ length: 5 }, (_, index) => index < half);
        expect(await bed.occupied("a")).toEqual(expected);
      });

      it("is decided by the half that denies, while the other half hangs", async () => {
        const redlock = bed.redlock((await bed.connectedNodes()).slice(0, count), {
          nodeTimeoutMs,
        });
        await bed.occupy("a", bed.servers.slice(0, half));
        await Promise.all(bed.servers.slice(half, count).map((server) => server.hang()));
        const elapsedMs: number[] = [];
        redlock.on("attempt", (attempt) => {
          expect(attempt.verdict).toBe("lost");
          elapsedMs.push(attempt.elapsedMs);
        });
        await redlock.tryAcquire("a").catch(() => {});
        expect(elapsedMs).toHaveLength(1);
        expect(elapsedMs[0]).toBeLessThan(nodeTimeoutMs / 2);
        await bed.resume();
        await bed.expectNothingLeft("a");
      });
    });
  });
}
