import { setTimeout as sleep } from "node:timers/promises";
import { LeaseLostError } from "@redlatch/core";
import { pollUntil } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

export function expiredLeases(harness: Harness): void {
  describe(`an expired lease (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const ttlMs = 200;

    it("is released with `expired`", async () => {
      const lease = await (await bed.client({ ttlMs })).acquire("a");
      await pollUntil("the keys expired", async () => (await bed.keys()).flat().length === 0);
      expect(lease.isHeld()).toBe(false);
      expect(await lease.release()).toBe("expired");
      expect(await lease.release()).toBe("expired");
    });

    it("is released with `expired` where somebody else holds by then, who keeps the keys", async () => {
      const lease = await (await bed.client({ ttlMs })).acquire("a");
      const next = await (await bed.client()).acquire("a");
      expect(await lease.release()).toBe("expired");
      await next.extend();
      expect(await next.release()).toBe("released");
    });

    it("does not cost the result of the work", async () => {
      const redlock = await bed.client({ ttlMs });
      const outlived = redlock.using("a", { autoExtend: false }, async (lease) => {
        await sleep(1.5 * ttlMs);
        return `held: ${lease.isHeld()}`;
      });
      expect(await outlived).toBe("held: false");
      const thrown = redlock.using("a", { autoExtend: false }, async () => {
        await sleep(1.5 * ttlMs);
        throw new RangeError("of the work");
      });
      await expect(thrown).rejects.toThrow(new RangeError("of the work"));
      const options = { autoExtend: false, onLost: "throw" } as const;
      const told = redlock.using("a", options, () => sleep(1.5 * ttlMs));
      await expect(told).rejects.toBeInstanceOf(LeaseLostError);
      await bed.expectNothingLeft();
    });
  });
}
