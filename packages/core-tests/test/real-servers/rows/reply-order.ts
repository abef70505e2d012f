import { setTimeout as sleep } from "node:timers/promises";
import { isRedlockError, type RedisNode, type Vote } from "@redlatch/core";
import { beforeEach, describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { wrapped } from "../harness/wrapped-node.ts";

const RANK_MS = 15;

/** Every choice of `count` numbers below 5: where in the order of replies the refused ones come. */
function choices(count: number, from = 0): number[][] {
  if (count === 0) return [[]];
  return Array.from({ length: 5 - from }, (_, index) => from + index).flatMap((first) =>
    choices(count - 1, first + 1).map((rest) => [first, ...rest]),
  );
}

/** Lets nodes answer, or fail, one after the other. */
const ranked = (node: RedisNode, rank: number): RedisNode =>
  wrapped(node, async (send) => {
    const result = send();
    result.catch(() => {});
    await sleep(rank * RANK_MS);
    return result;
  });

export function replyOrder(harness: Harness): void {
  describe(`refused and held at once (${harness.title})`, () => {
    const bed = new Testbed(harness);
    const nodeTimeoutMs = bed.ttlMs / 2;
    beforeEach(() => bed.occupy("a"));

    /** The first `refused` servers are killed; their answers come at the given ranks, the others between. */
    async function redlockWith(ranks: number[]) {
      const nodes = await bed.connectedNodes();
      await bed.kill(ranks.length);
      const others = [0, 1, 2, 3, 4].filter((rank) => !ranks.includes(rank));
      return bed.redlock(
        [...ranks, ...others].map((rank, index) => ranked(nodes[index] as RedisNode, rank)),
        { nodeTimeoutMs },
      );
    }

    it.each(choices(2))(
      "says held when 2 of 5 are refused (replies %i and %i) and 3 held by another",
      async (...ranks) => {
        const redlock = await redlockWith(ranks);
        const [tried, error] = await Promise.all([
          redlock.tryAcquire("a"),
          redlock.acquire("a", { waitMs: 0 }).catch((reason) => reason),
        ]);
        expect(tried).toBeNull();
        expect(isRedlockError(error, "RESOURCE_HELD")).toBe(true);
        expect(error.remainingMs).toBeGreaterThan(0);
        expect(await bed.occupied("a", bed.servers.slice(2))).toEqual([true, true, true]);
      },
    );

    it.each(choices(3))(
      "says unreachable when 3 of 5 are refused (replies %i, %i and %i) and 2 held by another",
      async (...ranks) => {
        const redlock = await redlockWith(ranks);
        const errors = await Promise.all([
          redlock.tryAcquire("a").catch((reason) => reason),
          redlock.acquire("a", { waitMs: 0 }).catch((reason) => reason),
        ]);
        for (const error of errors) {
          expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
          const failed = error.votes.filter((vote: Vote) => vote.outcome === "failed");
          expect(failed).toHaveLength(3);
        }
      },
    );
  });
}
