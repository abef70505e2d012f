import { type Lease, LeaseLostError, type RedisNode } from "@redlatch/core";
import { pollUntil, type RealServer } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { countingNode, holdingNode } from "../harness/wrapped-node.ts";

const flushAll = (servers: readonly RealServer[]) =>
  Promise.all(servers.map((server) => server.flush()));

function expectLost(lease: Lease): void {
  expect(lease.isHeld()).toBe(false);
  expect(lease.remainingMs()).toBe(0);
  expect(lease.signal.aborted).toBe(true);
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
  expect(() => lease.assertHeld()).toThrow(LeaseLostError);
}

export function lostKeys(harness: Harness): void {
  describe(`lost keys (${harness.title})`, () => {
    const bed = new Testbed(harness);

    /** Somebody else may come in at once and leaves nothing behind either. */
    async function expectFree(): Promise<void> {
      const other = await bed.client();
      const lease = await other.tryAcquire("a");
      expect(lease?.isHeld()).toBe(true);
      expect(await lease?.release()).toBe("released");
      await bed.expectNothingLeft();
    }

    describe("FLUSHALL on 3 of 5 while a lease is held", () => {
      it("is reported by the next extension, and nothing of ours stays behind", async () => {
        const redlock = await bed.client();
        const lost: unknown[] = [];
        redlock.on("lost", ({ error }) => lost.push(error));
        const lease = await redlock.acquire("a");
        await flushAll(bed.servers.slice(0, 3));
        await expect(lease.extend()).rejects.toBeInstanceOf(LeaseLostError);
        expectLost(lease);
        expect(lost).toEqual([lease.signal.reason]);
        await expectFree();
      });

      it("is reported by automatic extension, well before the deadline", async () => {
        const lease = await (await bed.client()).acquire("a", { autoExtend: true });
        const { deadline } = lease;
        await flushAll(bed.servers.slice(0, 3));
        await pollUntil("the loss is reported", () => lease.signal.aborted, {
          timeoutMs: bed.ttlMs,
        });
        expect(deadline - Date.now()).toBeGreaterThan(bed.ttlMs / 4);
        expectLost(lease);
        await expectFree();
      });

      it("releases keys that had been repaired before", async () => {
        const lease = await (await bed.client()).acquire("a");
        await flushAll(bed.servers.slice(0, 2));
        await lease.extend();
        await pollUntil("the two keys are repaired", async () =>
          (await bed.keys()).every((keys) => keys.includes("lock:a")),
        );
        expect((await bed.ttlsMs("a")).every((ttlMs) => ttlMs <= bed.ttlMs)).toBe(true);
        await flushAll(bed.servers.slice(2));
        await expect(lease.extend()).rejects.toBeInstanceOf(LeaseLostError);
        expectLost(lease);
        await expectFree();
      });

      it.each(["answered", "rejected", "unanswered"] as const)(
        "releases a repair that executes after the loss and is %s",
        async (fate) => {
          const [first, ...others] = (await bed.connectedNodes()) as [RedisNode, ...RedisNode[]];
          const sent = countingNode(first);
          const late = holdingNode(sent.node);
          const nodeTimeoutMs = Math.min(100, bed.ttlMs / 15);
          const redlock = bed.redlock([late.node, ...others], { nodeTimeoutMs });
          const lease = await redlock.acquire("a");
          await flushAll(bed.servers.slice(0, 1));
          // The extension passes and finds the key missing; the repair that follows is kept back.
          late.hold(1, 1);
          await lease.extend();
          await expect.poll(() => late.held).toBe(1);
          await flushAll(bed.servers);
          await expect(lease.extend()).rejects.toBeInstanceOf(LeaseLostError);
          // Acquired, extended, extended again; the release overtakes the repair.
          await expect.poll(() => sent.commands).toBeGreaterThanOrEqual(4);
          await late.letGo(fate);
          expectLost(lease);
          await expectFree();
        },
      );

      it("lets others in at once even where the holder has not noticed", async () => {
        const lease = await (await bed.client()).acquire("a");
        await flushAll(bed.servers.slice(0, 3));
        const other = await bed.client();
        const next = await other.tryAcquire("a");
        expect(next?.isHeld()).toBe(true);
        await expect(lease.extend()).rejects.toBeInstanceOf(LeaseLostError);
        expectLost(lease);
        await next?.extend();
        expect(await next?.release()).toBe("released");
        await bed.expectNothingLeft();
      });
    });

    describe("a lock stolen on 3 of 5", () => {
      it.each([{ autoExtend: false }, { autoExtend: true }])(
        "is reported by the next extension; the other holder's keys are untouched: %o",
        async ({ autoExtend }) => {
          const lease = await (await bed.client()).acquire("a", { autoExtend });
          const stolen = bed.servers.slice(0, 3);
          await bed.occupy("a", stolen, 5 * bed.ttlMs);
          if (!autoExtend) await expect(lease.extend()).rejects.toBeInstanceOf(LeaseLostError);
          await pollUntil("the loss is reported", () => lease.signal.aborted, {
            timeoutMs: bed.ttlMs,
          });
          expectLost(lease);
          expect(await lease.release()).toBe("expired");
          await bed.expectNothingLeft("a");
          expect(await bed.occupied("a")).toEqual([true, true, true, false, false]);
          const [shortestMs] = (await bed.ttlsMs("a")).slice(2);
          expect(shortestMs).toBeGreaterThan(3 * bed.ttlMs);
        },
      );

      it("is final: the lease never comes back, also when the thief is gone", async () => {
        const lease = await (await bed.client()).acquire("a");
        await bed.occupy("a", bed.servers.slice(0, 3));
        await expect(lease.extend()).rejects.toBeInstanceOf(LeaseLostError);
        await flushAll(bed.servers);
        await expect(lease.extend()).rejects.toBeInstanceOf(LeaseLostError);
        expectLost(lease);
        expect((await bed.keys()).flat()).toEqual([]);
      });

      it("keeps the lease where only a minority is stolen", async () => {
        const lease = await (await bed.client()).acquire("a");
        await bed.occupy("a", bed.servers.slice(0, 2));
        await lease.extend();
        expect(lease.isHeld()).toBe(true);
        expect(await lease.release()).toBe("released");
        await bed.expectNothingLeft("a");
        expect(await bed.occupied("a")).toEqual([true, true, false, false, false]);
      });
    });
  });
}
