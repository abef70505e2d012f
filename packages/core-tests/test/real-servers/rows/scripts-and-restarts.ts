import { pollUntil } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

export function scriptsAndRestarts(harness: Harness): void {
  describe(`script cache and restarts (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const forgetScripts = () =>
      Promise.all(bed.servers.map((server) => server.command("SCRIPT", "FLUSH")));

    it("falls back to EVAL in every call after the script cache was flushed", async () => {
      const redlock = await bed.client();
      await forgetScripts();
      const lease = await redlock.acquire("a", { waitMs: 0 });
      await expect.poll(() => lease.votes.length).toBe(5);
      expect(lease.votes.every(({ outcome }) => outcome === "granted")).toBe(true);
      await forgetScripts();
      await lease.extend();
      await forgetScripts();
      expect((await redlock.inspect("a")).verdict).toBe("held");
      await forgetScripts();
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });

    it("uses the cached scripts otherwise", async () => {
      const redlock = await bed.client();
      const [first] = bed.servers;
      await (await redlock.acquire("a")).release();
      await bed.expectNothingLeft();
      await first!.command("CONFIG", "RESETSTAT");
      await (await redlock.acquire("a")).release();
      await bed.expectNothingLeft();
      const stats = String(await first!.command("INFO", "commandstats"));
      expect(stats).toContain("cmdstat_evalsha:");
      expect(stats).not.toContain("cmdstat_eval:");
    });

    it("works in the next call after one node was restarted", async () => {
      const redlock = await bed.client();
      await (await redlock.acquire("a")).release();
      await bed.servers[0]!.restart();
      const lease = await redlock.acquire("a", { waitMs: 0 });
      await lease.extend();
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });

    it("works again once all nodes were restarted, without their scripts and keys", async () => {
      const redlock = await bed.client();
      const lost = await redlock.acquire("a");
      await Promise.all(bed.servers.map((server) => server.restart()));
      await pollUntil("the restart is known as a loss", async () => {
        await lost.extend().catch(() => {});
        return lost.signal.aborted;
      });
      const lease = await redlock.acquire("a");
      await lease.extend();
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });
  });
}
