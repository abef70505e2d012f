import { setTimeout as sleep } from "node:timers/promises";
import { isRedlockError, type RedisNode } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { holdingNode } from "../harness/wrapped-node.ts";

const FATES = ["answered", "rejected", "unanswered"] as const;

export function stragglers(harness: Harness): void {
  describe(`stragglers (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const nodeTimeoutMs = Math.min(200, bed.ttlMs / 10);

    /** One node keeps the commands back that set keys: releases overtake them. */
    async function redlockWithStraggler(ttlMs = bed.ttlMs) {
      const [first, ...others] = (await bed.connectedNodes()) as [RedisNode, ...RedisNode[]];
      const straggler = holdingNode(first);
      const redlock = bed.redlock([straggler.node, ...others], { ttlMs, nodeTimeoutMs });
      straggler.hold();
      return { redlock, straggler };
    }

    describe.each(FATES)("a command that executes after its release and is %s", (fate) => {
      it("leaves nothing when the verdict was lost meanwhile", async () => {
        const { redlock, straggler } = await redlockWithStraggler();
        await bed.occupy("a", bed.servers.slice(2));
        expect(await redlock.tryAcquire("a")).toBeNull();
        await straggler.letGo(fate);
        await bed.expectNothingLeft("a");
        expect(await bed.occupied("a")).toEqual([false, false, true, true, true]);
      });

      it("leaves nothing when the caller had aborted", async () => {
        const { redlock, straggler } = await redlockWithStraggler();
        await Promise.all(bed.servers.slice(2).map((server) => server.hang()));
        const reason = new Error("no longer wanted");
        const controller = new AbortController();
        const acquired = redlock.acquire("a", { signal: controller.signal });
        acquired.catch(() => {});
        await expect.poll(() => straggler.held).toBe(1);
        controller.abort(reason);
        await expect(acquired).rejects.toBe(reason);
        await straggler.letGo(fate);
        await bed.resume();
        await bed.expectNothingLeft();
      });

      it("leaves nothing when the lease was won without it and released", async () => {
        const { redlock, straggler } = await redlockWithStraggler();
        const lease = await redlock.acquire("a");
        expect(await lease.release()).toBe("released");
        await straggler.letGo(fate);
        await bed.expectNothingLeft();
      });

      it("leaves nothing when the quorum was out of reach", async () => {
        const { redlock, straggler } = await redlockWithStraggler();
        await Promise.all(bed.servers.slice(1, 4).map((server) => server.hang()));
        const error = await redlock.acquire("a", { waitMs: 0 }).catch((reason) => reason);
        expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
        await straggler.letGo(fate);
        await bed.resume();
        await bed.expectNothingLeft();
      });
    });

    it("leaves nothing of a command that executes after its whole ttl, when its answer is heard", async () => {
      const ttlMs = 2_000;
      const { redlock, straggler } = await redlockWithStraggler(ttlMs);
      const lease = await redlock.acquire("a");
      expect(await lease.release()).toBe("released");
      await sleep(1.5 * ttlMs);
      await straggler.letGo("answered");
      await bed.expectNothingLeft(undefined, ttlMs);
    });

    it("counts a grant that comes after a won verdict", async () => {
      const { redlock, straggler } = await redlockWithStraggler();
      const lease = await redlock.acquire("a");
      expect(lease.votes.filter(({ outcome }) => outcome === "granted").length).toBeLessThan(5);
      await straggler.letGo("answered");
      await expect
        .poll(() => lease.votes.filter(({ outcome }) => outcome === "granted").length)
        .toBe(5);
      await lease.release();
      await bed.expectNothingLeft();
    });

    it("leaves nothing on a hung server whose connection breaks, so that its release is never sent", async () => {
      const [first] = bed.servers;
      const [proxy] = await bed.proxies();
      const endpoints = [proxy!, ...bed.servers.slice(1)];
      const redlock = bed.redlock(await bed.connectedNodes(endpoints), { nodeTimeoutMs });
      await bed.occupy("a", bed.servers.slice(2));
      await first!.hang();
      redlock.on("attempt", () => proxy!.cut());
      expect(await redlock.tryAcquire("a")).toBeNull();
      await first!.resume();
      await bed.expectNothingLeft("a");
    });

    it("leaves nothing where a late command executes, its reply is lost and the release with it", async () => {
      const [proxy] = await bed.proxies();
      const endpoints = [proxy!, ...bed.servers.slice(1)];
      const redlock = bed.redlock(await bed.connectedNodes(endpoints), { nodeTimeoutMs });
      await bed.occupy("a", bed.servers.slice(2));
      proxy!.delay(nodeTimeoutMs * 2, { of: "requests" });
      proxy!.dropReplies(1);
      // The undo is sent after this event: it is still on its way when the connection breaks.
      redlock.on("attempt", () => proxy!.delay(nodeTimeoutMs * 4, { of: "requests" }));
      expect(await redlock.tryAcquire("a")).toBeNull();
      await expect.poll(async () => (await bed.keys())[0], { timeout: 5_000 }).toEqual(["lock:a"]);
      await proxy!.heal();
      await bed.expectNothingLeft("a");
      expect(await bed.occupied("a")).toEqual([false, false, true, true, true]);
    });
  });
}
