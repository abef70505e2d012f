import { isRedlockError, type RedisNode } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { type Between, wrapped } from "../harness/wrapped-node.ts";

const FAULTS: Readonly<Record<string, Between>> = {
  "throws synchronously": () => {},
  "rejects with undefined": () => Promise.reject(undefined),
  "rejects with a string": () => Promise.reject("no"),
  "answers null": () => null,
  "answers OK": () => "OK",
  "answers an object": () => ({ granted: true }),
  "answers an array": () => [1],
  "answers true": () => true,
  "answers 2": () => 2,
  "answers NaN": () => Number.NaN,
  "answers a web page": () => "<html><body>It works!</body></html>",
  "answers nothing at all": () => undefined,
  "never settles": () => new Promise(() => {}),
};

/** A node that also executes the command, but whose answer is broken. */
function broken(node: RedisNode, fault: string): RedisNode {
  if (fault === "throws synchronously") {
    return {
      ...node,
      send() {
        throw new Error("thrown by send");
      },
    };
  }
  return wrapped(node, async (send, command, options) => {
    await send();
    return (FAULTS[fault] as Between)(send, command, options);
  });
}

export function brokenNodes(harness: Harness): void {
  describe(`nodes that break the contract (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const nodeTimeoutMs = 200;

    async function redlockWith(count: number, fault: string) {
      const nodes = await bed.connectedNodes();
      return bed.redlock(
        nodes.map((node, index) => (index < count ? broken(node, fault) : node)),
        { nodeTimeoutMs },
      );
    }

    describe.each(Object.keys(FAULTS))("a node that %s", (fault) => {
      it("is a failed vote, and a minority of them hinders nobody", async () => {
        const redlock = await redlockWith(2, fault);
        const causes: unknown[] = [];
        redlock.on("nodeFailed", ({ cause }) => causes.push(cause));
        const lease = await redlock.acquire("a", { waitMs: 0 });
        await lease.extend();
        expect(await lease.release()).toBe("released");
        await expect.poll(() => causes.length).toBe(2);
        for (const cause of causes) expect(cause).toBeInstanceOf(Error);
        const { nodes } = await redlock.inspect("a");
        expect(nodes.map(({ state }) => state)).toEqual([
          ...["failed", "failed"],
          ...["free", "free", "free"],
        ]);
        await bed.expectNothingLeft();
      });

      it("makes the quorum unreachable as a majority, in bounded time", async () => {
        const redlock = await redlockWith(3, fault);
        const startedMs = performance.now();
        const error = await redlock.acquire("a", { waitMs: 0 }).catch((reason) => reason);
        expect(performance.now() - startedMs).toBeLessThan(bed.ttlMs / 2);
        expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
        await bed.expectNothingLeft();
      });
    });
  });
}
