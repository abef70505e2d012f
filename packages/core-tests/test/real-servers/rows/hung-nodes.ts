import { setTimeout as sleep } from "node:timers/promises";
import { isRedlockError, LeaseLostError, QuorumUnreachableError } from "@redlatch/core";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

export function hungNodes(harness: Harness): void {
  describe(`hung nodes (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const nodeTimeoutMs = Math.min(1_000, bed.ttlMs / 3);

    describe.each([1, 2])("with %i of 5 hung", (count) => {
      it("acquires and releases at the speed of the healthy nodes", async () => {
        const redlock = await bed.client({ nodeTimeoutMs });
        await bed.hang(count);
        const tookMs: number[] = [];
        for (let round = 0; round < 5; round++) {
          const startedMs = performance.now();
          const lease = await redlock.acquire("a", { waitMs: 0 });
          expect(await lease.release()).toBe("released");
          tookMs.push(performance.now() - startedMs);
        }
        // Had one of them waited for a hung node, all would have taken that long.
        expect(Math.min(...tookMs)).toBeLessThan(nodeTimeoutMs / 2);
        await bed.resume();
        await bed.expectNothingLeft();
      });

      it("does so with clients that never reached the hung nodes", async () => {
        await bed.hang(count);
        const redlock = bed.redlock(bed.nodes(), { nodeTimeoutMs });
        await (await redlock.acquire("a", { waitMs: 0 })).release();
        const startedMs = performance.now();
        const lease = await redlock.acquire("a", { waitMs: 0 });
        expect(await lease.release()).toBe("released");
        expect(performance.now() - startedMs).toBeLessThan(nodeTimeoutMs);
        await bed.resume();
        await bed.expectNothingLeft();
      });

      it("extends at the speed of the healthy nodes", async () => {
        const redlock = await bed.client({ nodeTimeoutMs });
        const lease = await redlock.acquire("a");
        await bed.hang(count);
        const startedMs = performance.now();
        await lease.extend();
        expect(performance.now() - startedMs).toBeLessThan(nodeTimeoutMs);
        await lease.release();
        await bed.resume();
        await bed.expectNothingLeft();
      });
    });

    it.each([{ waitMs: 0 }, { waitMs: 1_500 }])(
      "rejects within waitMs + one nodeTimeoutMs with 3 of 5 hung, and leaves no key: %o",
      async ({ waitMs }) => {
        const redlock = await bed.client({ nodeTimeoutMs });
        await bed.hang(3);
        const startedMs = performance.now();
        const error = await redlock.acquire("a", { waitMs }).catch((reason) => reason);
        const tookMs = performance.now() - startedMs;
        expect(error).toBeInstanceOf(QuorumUnreachableError);
        expect(
          error.votes.filter(({ outcome }: { outcome: string }) => outcome === "failed"),
        ).toHaveLength(3);
        expect(tookMs).toBeGreaterThan(waitMs);
        // Less than another node's time limit beyond what was promised.
        expect(tookMs).toBeLessThan(waitMs + nodeTimeoutMs * 1.7);
        await bed.resume();
        await bed.expectNothingLeft();
      },
    );

    it.each([3, 2])("leaves no key where %i of 5 hang for longer than the ttl", async (count) => {
      const ttlMs = 3_000;
      const redlock = await bed.client({ ttlMs, nodeTimeoutMs: 100 });
      await bed.hang(count);
      const lease = await redlock.tryAcquire("a").catch(() => undefined);
      await lease?.release();
      await sleep(1.5 * ttlMs);
      // Only now the servers execute what they were sent, and the keys live for a whole ttl from here.
      await bed.resume();
      await bed.expectNothingLeft(undefined, ttlMs);
    });

    it("tells nobody knows, instead of null, when tryAcquire meets 3 of 5 hung", async () => {
      const redlock = await bed.client({ nodeTimeoutMs });
      await bed.hang(3);
      const error = await redlock.tryAcquire("a").catch((reason) => reason);
      expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
      await bed.resume();
      await bed.expectNothingLeft();
    });

    it("causes no warning while it goes on releasing on hung nodes that never connected", async () => {
      const warnings: Error[] = [];
      const collect = (warning: Error) => warnings.push(warning);
      process.on("warning", collect);
      onTestFinished(() => {
        process.off("warning", collect);
      });
      await bed.hang(3);
      const redlock = bed.redlock(bed.nodes(), { nodeTimeoutMs: 40 });
      await redlock.tryAcquire("a").catch(() => {});
      // Releases again after 40, 80, 160, 320 and 640 ms.
      await sleep(1_400);
      expect(warnings).toEqual([]);
      await bed.resume();
      await bed.expectNothingLeft();
    });

    it("aborts lease.signal at the deadline when a majority hangs while leases are held", async () => {
      const redlock = await bed.client();
      const leases = await Promise.all([
        redlock.acquire("plain"),
        redlock.acquire("extended", { autoExtend: true }),
      ]);
      const deadlines = leases.map(({ deadline }) => deadline);
      await bed.hang(3);
      const observed = await Promise.all(
        leases.map(async (lease) => {
          await sleep(lease.remainingMs() / 2);
          const before = { aborted: lease.signal.aborted, held: lease.isHeld() };
          // A timer of our own, late by as much as any: the signal's has to come first.
          await sleep(lease.deadline - Date.now() + 25);
          return { before, after: { aborted: lease.signal.aborted, held: lease.isHeld() } };
        }),
      );
      for (const { before, after } of observed) {
        expect(before).toEqual({ aborted: false, held: true });
        expect(after).toEqual({ aborted: true, held: false });
      }
      expect(leases.map(({ deadline }) => deadline)).toEqual(deadlines);
      await bed.resume();
      await expect(leases[1].extend()).rejects.toBeInstanceOf(LeaseLostError);
      for (const lease of leases) {
        expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
        expect(lease.isHeld()).toBe(false);
        expect(lease.remainingMs()).toBe(0);
      }
      await bed.expectNothingLeft();
    });
  });
}
