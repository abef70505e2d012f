import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type Lease, RedlockClosedError } from "@redlatch/core";
import { pollUntil } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

/** Promise.withResolvers, which Node 20 lacks. */
function withResolvers<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export function closing(harness: Harness): void {
  describe(`close() (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const holders = async () => (await bed.keys()).filter((keys) => keys.includes("lock:a")).length;

    it("waits for work that ends on its signal, and releases its keys", async () => {
      const redlock = await bed.client();
      let ended = false;
      let reason: unknown;
      const started = withResolvers<void>();
      const work = redlock.using("a", async ({ signal }) => {
        started.resolve();
        await once(signal, "abort");
        reason = signal.reason;
        await sleep(100);
        ended = true;
        return "result";
      });
      await started.promise;
      await redlock.close();
      expect(ended).toBe(true);
      expect(reason).toBeInstanceOf(RedlockClosedError);
      expect(await work).toBe("result");
      await bed.expectNothingLeft();
    });

    it("never deletes the key under work that goes on after graceMs, and extends it no more", async () => {
      const ttlMs = 1_500;
      const redlock = await bed.client({ ttlMs });
      const end = new AbortController();
      const started = withResolvers<Lease>();
      const work = redlock.using("a", async (lease) => {
        started.resolve(lease);
        await once(end.signal, "abort");
        return "late result";
      });
      const lease = await started.promise;
      await redlock.close({ graceMs: 100 });
      expect(lease.signal.reason).toBeInstanceOf(RedlockClosedError);
      const { deadline } = lease;
      expect(deadline - Date.now()).toBeGreaterThan(0);
      let looks = 0;
      for (;;) {
        const held = await holders();
        // Only what was seen before the deadline counts.
        if (Date.now() >= deadline) break;
        expect(held).toBeGreaterThanOrEqual(3);
        looks++;
        await sleep(20);
      }
      expect(looks).toBeGreaterThan(5);
      await pollUntil("the keys expired", async () => (await holders()) === 0);
      expect(lease.deadline).toBe(deadline);
      end.abort();
      expect(await work).toBe("late result");
      await bed.expectNothingLeft();
    });

    it("keeps somebody else out while the work of a closed Redlock goes on", async () => {
      const redlock = await bed.client();
      const end = new AbortController();
      const started = withResolvers<void>();
      const work = redlock.using("a", async () => {
        started.resolve();
        await once(end.signal, "abort");
      });
      await started.promise;
      await redlock.close({ graceMs: 0 });
      const other = await bed.client();
      expect(await other.tryAcquire("a")).toBeNull();
      end.abort();
      await work;
      await bed.expectNothingLeft();
    });

    it("leaves the keys of a lease that nobody gave back, which can still be released", async () => {
      const redlock = await bed.client();
      const lease = await redlock.acquire("a");
      await redlock.close();
      expect(lease.signal.reason).toBeInstanceOf(RedlockClosedError);
      expect(await holders()).toBeGreaterThanOrEqual(3);
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });

    it("rejects everybody who waits, and every later call", async () => {
      const redlock = await bed.client();
      await bed.occupy("b");
      const lease = await redlock.acquire("a");
      const waiting = [
        redlock.acquire("a", { waitMs: Number.POSITIVE_INFINITY }),
        redlock.acquire("b", { waitMs: Number.POSITIVE_INFINITY }),
        redlock.using("a", () => "never"),
      ];
      const outcomes = Promise.allSettled(waiting);
      await sleep(50);
      await redlock.close();
      for (const outcome of await outcomes) {
        expect(outcome).toMatchObject({ reason: expect.any(RedlockClosedError) });
      }
      await expect(redlock.acquire("c")).rejects.toBeInstanceOf(RedlockClosedError);
      await expect(redlock.tryAcquire("c")).rejects.toBeInstanceOf(RedlockClosedError);
      await lease.release();
      await bed.expectNothingLeft("b");
    });

    it("ends in bounded time while a majority hangs", async () => {
      const redlock = await bed.client();
      const lease = await redlock.acquire("a", { autoExtend: true });
      await bed.hang(3);
      const waiting = redlock.acquire("b").catch((reason) => reason);
      const startedMs = performance.now();
      await redlock.close({ graceMs: 100 });
      expect(performance.now() - startedMs).toBeLessThan(bed.ttlMs / 2);
      expect(await waiting).toBeInstanceOf(RedlockClosedError);
      await bed.resume();
      await lease.release();
      await bed.expectNothingLeft();
    });
  });
}
