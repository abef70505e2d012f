import { isRedlockError, type Redlock, type RedlockEvents } from "@redlatch/core";
import { pollUntil } from "@redlatch/testkit";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

/** Collects a Redlock's `nodeFailed` and `nodeRecovered` events. */
function observe(redlock: Redlock) {
  const failed: RedlockEvents["nodeFailed"][] = [];
  const recovered: string[] = [];
  redlock.on("nodeFailed", (event) => failed.push(event));
  redlock.on("nodeRecovered", ({ node }) => recovered.push(node));
  return { failed, recovered };
}

// An unhandled rejection anywhere fails the whole run: vitest sees to that.
export function killedNodes(harness: Harness): void {
  describe(`killed nodes (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const namesOf = (count: number) =>
      bed.servers.slice(0, count).map(({ host, port }) => `${host}:${port}`);

    beforeEach(() => {
      vi.spyOn(console, "error");
      vi.spyOn(console, "warn");
    });
    afterEach(() => {
      const printed = [vi.mocked(console.error).mock.calls, vi.mocked(console.warn).mock.calls];
      vi.restoreAllMocks();
      expect(printed).toEqual([[], []]);
    });

    describe.each([1, 2])("with %i of 5 killed", (count) => {
      it("goes on as if they were not there, and tells of each of them once", async () => {
        const redlock = await bed.client();
        const { failed } = observe(redlock);
        await bed.kill(count);
        for (let round = 0; round < 20; round++) {
          const lease = await redlock.acquire("a", { waitMs: 0 });
          await lease.extend();
          expect(await lease.release()).toBe("released");
        }
        expect(failed.map(({ node }) => node).sort()).toEqual(namesOf(count).sort());
        for (const { cause } of failed) expect(cause).toBeInstanceOf(Error);
        await bed.expectNothingLeft();
      });

      it("does so with clients that were refused from the start", async () => {
        await bed.kill(count);
        const redlock = bed.redlock(bed.nodes());
        const { failed } = observe(redlock);
        for (let round = 0; round < 20; round++) {
          const lease = await redlock.acquire("a", { waitMs: 0 });
          expect(await lease.release()).toBe("released");
        }
        await pollUntil("the failures were told", () => failed.length === count);
        expect(failed.map(({ node }) => node).sort()).toEqual(namesOf(count).sort());
        await bed.expectNothingLeft();
      });

      it("keeps a lease whose nodes die, and counts the nodes again once they are back", async () => {
        const redlock = await bed.client();
        const { failed, recovered } = observe(redlock);
        const lease = await redlock.acquire("a");
        await bed.kill(count);
        await lease.extend();
        await Promise.all(bed.servers.slice(0, count).map((server) => server.restart()));
        await pollUntil("the nodes vote again", async () => {
          await lease.extend();
          return recovered.length === count;
        });
        expect(recovered.sort()).toEqual(failed.map(({ node }) => node).sort());
        await pollUntil("the lost keys are repaired", async () =>
          (await bed.keys()).every((keys) => keys.includes("lock:a")),
        );
        expect(await lease.release()).toBe("released");
        await bed.expectNothingLeft();
      });
    });

    it("rejects within its bounds with 3 of 5 killed, and works again once they are back", async () => {
      const redlock = await bed.client();
      await bed.kill(3);
      const error = await redlock.acquire("a", { waitMs: 300 }).catch((reason) => reason);
      expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
      await bed.expectNothingLeft();
      await Promise.all(bed.servers.slice(0, 3).map((server) => server.restart()));
      const lease = await redlock.acquire("a");
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });
  });
}
