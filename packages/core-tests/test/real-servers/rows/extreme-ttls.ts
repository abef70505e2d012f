import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { countingNode } from "../harness/wrapped-node.ts";

export function extremeTtls(harness: Harness): void {
  describe(`extreme TTLs (${harness.title})`, () => {
    const bed = new Testbed(harness);

    async function countingRedlock() {
      const counts = (await bed.connectedNodes()).map(countingNode);
      const redlock = bed.redlock(counts.map(({ node }) => node));
      return { redlock, mostCommands: () => Math.max(...counts.map(({ commands }) => commands)) };
    }

    it.each([2 ** 31 + 1_000, 2 ** 32 + 1_000, 2 ** 45])(
      "a ttl of %i ms starts no timer storm and lasts",
      async (ttlMs) => {
        const { redlock, mostCommands } = await countingRedlock();
        const lease = await redlock.acquire("a", { ttlMs, autoExtend: true });
        const waiting = redlock.acquire("a", { ttlMs, waitMs: ttlMs });
        await sleep(300);
        expect(mostCommands()).toBe(1);
        expect(lease.isHeld()).toBe(true);
        expect(lease.signal.aborted).toBe(false);
        expect(lease.remainingMs()).toBeGreaterThan(0.9 * ttlMs);
        expect((await bed.ttlsMs("a"))[2]).toBeGreaterThan(0.9 * ttlMs);
        await lease.release();
        expect(await (await waiting).release()).toBe("released");
        await bed.expectNothingLeft();
      },
    );

    it("a wait of more than 2^31 ms between processes starts no storm either", async () => {
      await bed.occupy("a", bed.servers, 2 ** 40);
      const { redlock, mostCommands } = await countingRedlock();
      const controller = new AbortController();
      const retryDelayMs = 2 ** 33;
      const waiting = redlock.acquire("a", {
        waitMs: 2 ** 40,
        retryDelayMs,
        signal: controller.signal,
      });
      await sleep(300);
      controller.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
      // An attempt and its undo, and once more when the subscriptions are confirmed.
      expect(mostCommands()).toBeLessThanOrEqual(4);
      await bed.expectNothingLeft("a");
    });

    it("a ttl of 20 ms with extension takes a handful of commands per ttl", async () => {
      const ttlMs = 20;
      const { redlock, mostCommands } = await countingRedlock();
      const startedMs = performance.now();
      let leases = 0;
      let extensions = 0;
      redlock.on("extended", () => extensions++);
      // On a busy machine so short a lease may be lost: then the next one.
      while (performance.now() - startedMs < 600) {
        const lease = await redlock.acquire("a", { ttlMs, autoExtend: true });
        leases++;
        while (lease.isHeld() && performance.now() - startedMs < 600) await sleep(1);
        await lease.release();
      }
      const ttls = (performance.now() - startedMs) / ttlMs;
      expect(extensions).toBeGreaterThan(0);
      expect(mostCommands()).toBeLessThan(5 * (ttls + leases));
    });
  });
}
