import { isRedlockError, type RedisNode, Redlock } from "@redlatch/core";
import type { ConformanceCase } from "../case.ts";
import { replyOf } from "../exchange.ts";
import { expectSame, expectSoon, expectThat } from "../expectation.ts";
import { uniqueName } from "../names.ts";

const ttlMs = 4_000;
const nodeTimeoutMs = 500;

/** The node, where the promise of the first command that is executed never settles. */
function forgetful(node: RedisNode): RedisNode {
  let forgotten = false;
  return {
    name: node.name,
    timeoutMs: node.timeoutMs,
    async send(command, options) {
      const reply = await node.send(command, options);
      if (forgotten) return reply;
      forgotten = true;
      return new Promise(() => {});
    },
  };
}

export const lostReplyCases: readonly ConformanceCase[] = [
  {
    name: "is a failed vote in time where a promise never settles, and leaves no key",
    async run(node) {
      const resource = uniqueName();
      const redlock = new Redlock([forgetful(node)], { ttlMs, nodeTimeoutMs });
      try {
        const startedMs = performance.now();
        const error = await redlock.acquire(resource, { waitMs: 0 }).catch((reason) => reason);
        const tookMs = performance.now() - startedMs;
        const code = isRedlockError(error) ? error.code : error;
        expectSame(`${node.name}: acquire without a reply`, code, "QUORUM_UNREACHABLE");
        expectThat(tookMs < ttlMs / 2, `${node.name}: the vote failed after ${tookMs} ms only`);
        const left = () => replyOf(node, ["EXISTS", `lock:${resource}`]);
        await expectSoon(`${node.name}: no key is left`, ttlMs / 2, async () => !+(await left()));
      } finally {
        await redlock.close();
      }
    },
  },
];
