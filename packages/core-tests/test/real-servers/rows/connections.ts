import { setTimeout as sleep } from "node:timers/promises";
import { isRedlockError, QuorumUnreachableError, type RedisNode } from "@redlatch/core";
import { pollUntil } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { wrapped } from "../harness/wrapped-node.ts";

/** What a re-sending driver does: when the connection is lost, the same command again, until it is answered. */
const resending = (node: RedisNode): RedisNode =>
  wrapped(node, (send) =>
    pollUntil(`${node.name} answers`, async () => [await send()]).then(([reply]) => reply),
  );

export function connections(harness: Harness): void {
  describe(`connections (${harness.title})`, () => {
    const bed = new Testbed(harness);

    describe("dropped between command and reply, with the command re-sent", () => {
      it.each([1, 3, 5])(
        "gives one vote per node and no self-denial, on %i of 5",
        async (count) => {
          const proxies = await bed.proxies();
          const nodes = (await bed.connectedNodes(proxies)).map(resending);
          const redlock = bed.redlock(nodes, { nodeTimeoutMs: bed.ttlMs / 3 });
          const attempts: string[] = [];
          redlock.on("attempt", ({ verdict }) => attempts.push(verdict));
          for (const proxy of proxies.slice(0, count)) proxy.dropReplies(1);
          const lease = await redlock.acquire("a", { waitMs: 0 });
          expect(attempts).toEqual(["won"]);
          await pollUntil("every node has voted", () => lease.votes.length === 5);
          expect(new Set(lease.votes.map(({ node }) => node)).size).toBe(5);
          expect(lease.votes.every(({ outcome }) => outcome === "granted")).toBe(true);
          expect((await bed.keys()).every((keys) => keys.length === 1)).toBe(true);
          for (const proxy of proxies.slice(0, count)) proxy.dropReplies(1);
          await lease.extend();
          expect(lease.isHeld()).toBe(true);
          await lease.release();
          await bed.expectNothingLeft();
        },
      );

      it("does not lengthen the keys by the repeat", async () => {
        const nodes = await bed.connectedNodes();
        const repeating = nodes.map((node) =>
          wrapped(node, async (send) => {
            await send();
            await sleep(bed.ttlMs / 10);
            return send();
          }),
        );
        const redlock = bed.redlock(repeating, { nodeTimeoutMs: bed.ttlMs / 2 });
        const lease = await redlock.acquire("a", { waitMs: 0 });
        expect((await bed.ttlsMs("a"))[0]).toBeLessThanOrEqual(bed.ttlMs * 0.9);
        expect(lease.votes.every(({ outcome }) => outcome === "granted")).toBe(true);
        await lease.release();
        await bed.expectNothingLeft();
      });
    });

    it("gets the lock although every first reply is lost, and leaves nothing", async () => {
      const proxies = await bed.proxies();
      const redlock = bed.redlock(await bed.connectedNodes(proxies));
      for (const proxy of proxies) proxy.dropReplies(1);
      const lease = await redlock.acquire("a");
      expect(new Set(lease.votes.map(({ node }) => node)).size).toBe(lease.votes.length);
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });

    describe("replies slower than the ttl", () => {
      const ttlMs = 300;

      it("never make a lease, and everything is released", async () => {
        const proxies = await bed.proxies();
        const redlock = bed.redlock(await bed.connectedNodes(proxies), { ttlMs });
        for (const proxy of proxies) proxy.delay(1.5 * ttlMs);
        const error = await redlock.acquire("a", { waitMs: 2 * ttlMs }).catch((reason) => reason);
        expect(error).toBeInstanceOf(QuorumUnreachableError);
        for (const proxy of proxies) await proxy.heal();
        await bed.expectNothingLeft();
      });

      it("never make a lease where a blocked event loop hides the time limit", async () => {
        const block = () => {
          const untilMs = performance.now() + ttlMs / 2;
          while (performance.now() < untilMs);
        };
        const nodes = (await bed.connectedNodes()).map((node) =>
          wrapped(node, async (send) => {
            const reply = await send();
            block();
            return reply;
          }),
        );
        const redlock = bed.redlock(nodes, { ttlMs });
        const error = await redlock.acquire("a", { waitMs: 0 }).catch((reason) => reason);
        expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
        await bed.expectNothingLeft();
      });
    });
  });
}
