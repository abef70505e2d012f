import { setTimeout as sleep } from "node:timers/promises";
import { type Lease, QuorumUnreachableError } from "@redlatch/core";
import { pollUntil } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

export function extensions(harness: Harness): void {
  describe(`an extension (${harness.title})`, () => {
    const bed = new Testbed(harness);

    /** For as long as the lease believes, a majority keeps the key. */
    async function expectKeysOutliveBelief(
      lease: Pick<Lease, "deadline" | "remainingMs">,
    ): Promise<void> {
      const { deadline } = lease;
      const [, , third] = await bed.ttlsMs("a");
      // An extension in between moves the belief, and had moved the keys' expiry after they were asked.
      if (lease.deadline !== deadline) return;
      expect(third).toBeGreaterThanOrEqual(lease.remainingMs());
    }

    it("to a shorter ttl moves neither the deadline nor the keys' expiry back", async () => {
      const lease = await (await bed.client()).acquire("a");
      const { deadline } = lease;
      await lease.extend(bed.ttlMs / 10);
      expect(lease.deadline).toBe(deadline);
      expect(lease.remainingMs()).toBeGreaterThan(bed.ttlMs / 2);
      await expectKeysOutliveBelief(lease);
      await lease.release();
      await bed.expectNothingLeft();
    });

    it("to a shorter ttl goes on with it automatically, and still shortens nothing", async () => {
      const redlock = await bed.client({ ttlMs: 4_000 });
      let extensions = 0;
      redlock.on("extended", () => extensions++);
      const lease = await redlock.acquire("a", { autoExtend: true });
      await lease.extend(1_000);
      let { deadline } = lease;
      // Until the shorter ttl, too, has moved the deadline three times.
      for (let looks = 0; extensions < 3 && looks < 1_000; looks++) {
        await expectKeysOutliveBelief(lease);
        expect(lease.deadline).toBeGreaterThanOrEqual(deadline);
        deadline = lease.deadline;
        await sleep(10);
      }
      expect(extensions).toBeGreaterThanOrEqual(3);
      expect(lease.isHeld()).toBe(true);
      expect(lease.remainingMs()).toBeLessThanOrEqual(1_000);
      await lease.release();
      await bed.expectNothingLeft();
    });

    it.each(["longer", "shorter"])(
      "to a %s ttl whose replies are lost moves no deadline, and the keys outlive it",
      async (kind) => {
        const proxies = await bed.proxies();
        const redlock = bed.redlock(await bed.connectedNodes(proxies));
        const lease = await redlock.acquire("a");
        const { deadline } = lease;
        for (const proxy of proxies) proxy.dropReplies(1);
        const error = await lease
          .extend(kind === "longer" ? 2 * bed.ttlMs : bed.ttlMs / 10)
          .catch((reason) => reason);
        expect(error).toBeInstanceOf(QuorumUnreachableError);
        expect(lease.deadline).toBe(deadline);
        expect(lease.isHeld()).toBe(true);
        await expectKeysOutliveBelief(lease);
        await pollUntil("an extension succeeds again", async () => {
          await lease.extend();
          return true;
        });
        expect(lease.deadline).toBeGreaterThanOrEqual(deadline);
        await expectKeysOutliveBelief(lease);
        await lease.release();
        await bed.expectNothingLeft();
      },
    );
  });
}
