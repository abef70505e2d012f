import { setTimeout as sleep } from "node:timers/promises";
import type { CallOptions, Redlock } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { countingNode } from "../harness/wrapped-node.ts";

type Call = (redlock: Redlock, options: CallOptions) => Promise<unknown>;

const CALLS: readonly { name: string; call: Call }[] = [
  { name: "acquire", call: (redlock, options) => redlock.acquire("a", options) },
  { name: "tryAcquire", call: (redlock, options) => redlock.tryAcquire("a", options) },
  { name: "using", call: (redlock, options) => redlock.using("a", options, () => "ran") },
  { name: "tryUsing", call: (redlock, options) => redlock.tryUsing("a", () => "ran", options) },
];

export function aborting(harness: Harness): void {
  describe(`an AbortSignal (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const nodeTimeoutMs = Math.min(1_000, bed.ttlMs / 3);

    /** Aborts the call after a while; it has to reject with the very reason, at once. */
    async function expectAbort(redlock: Redlock, call: Call, reason: unknown): Promise<void> {
      const controller = new AbortController();
      const outcome = call(redlock, { signal: controller.signal }).then(
        (value) => ({ value }),
        (thrown) => ({ thrown }),
      );
      await sleep(50);
      const abortedAtMs = performance.now();
      controller.abort(reason);
      expect(await outcome).toEqual({ thrown: controller.signal.reason });
      if (reason !== undefined) expect(await outcome).toEqual({ thrown: reason });
      expect(performance.now() - abortedAtMs).toBeLessThan(nodeTimeoutMs / 2);
    }

    describe.each(CALLS)("of $name", ({ call }) => {
      it("aborted before asks no node", async () => {
        const counts = (await bed.connectedNodes()).map(countingNode);
        const redlock = bed.redlock(counts.map(({ node }) => node));
        const reason = new Error("no longer wanted");
        await expect(call(redlock, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
        expect(counts.every(({ commands }) => commands === 0)).toBe(true);
        await bed.expectNothingLeft();
      });

      it("aborted during a command rejects at once and leaves nothing", async () => {
        const redlock = await bed.client({ nodeTimeoutMs });
        await bed.hang(3);
        await expectAbort(redlock, call, new Error("no longer wanted"));
        await bed.resume();
        await bed.expectNothingLeft();
      });
    });

    describe.each(CALLS.filter(({ name }) => !name.startsWith("try")))("of $name", ({ call }) => {
      it("aborted while another process holds rejects at once and leaves nothing", async () => {
        const redlock = await bed.client({ nodeTimeoutMs });
        await bed.occupy("a");
        await expectAbort(redlock, call, "any reason");
        await bed.expectNothingLeft("a");
        expect(await bed.occupied("a")).toEqual([true, true, true, true, true]);
      });

      it("aborted while this process holds rejects at once, and the line goes on", async () => {
        const redlock = await bed.client();
        const lease = await redlock.acquire("a");
        const next = sleep(10).then(() => redlock.acquire("a"));
        await expectAbort(redlock, call, undefined);
        await lease.release();
        expect(await (await next).release()).toBe("released");
        await bed.expectNothingLeft();
      });
    });

    it("does not hinder the release of the lease that it was given for", async () => {
      const redlock = await bed.client();
      const controller = new AbortController();
      const lease = await redlock.acquire("a", { signal: controller.signal });
      controller.abort();
      expect(lease.isHeld()).toBe(true);
      await lease.extend();
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });

    it("aborts the signal of running work in using, whose keys are still released", async () => {
      const redlock = await bed.client();
      const reason = new Error("shutting down");
      const controller = new AbortController();
      const result = redlock.using("a", { signal: controller.signal }, async ({ signal }) => {
        controller.abort(reason);
        return signal.reason;
      });
      expect(await result).toBe(reason);
      await bed.expectNothingLeft();
    });
  });
}
