import { isRedlockError, Redlock } from "@redlatch/core";
import type { ConformanceCase, ConformanceContext } from "../case.ts";
import { evaluated, replyOf } from "../exchange.ts";
import { expectSame, expectSoon, expectThat } from "../expectation.ts";
import { uniqueName } from "../names.ts";
import { settled } from "./aborting.ts";

const silentMs = 700;
const nodeTimeoutMs = 150;
const ttlMs = 5_000;

const silenceOf = (context: ConformanceContext | undefined): ((ms: number) => Promise<unknown>) => {
  if (context?.silence) return context.silence;
  throw new Error(
    "this case needs { silence }, a way to make the server answer nothing for a while",
  );
};

export const silentServerCases: readonly ConformanceCase[] = [
  {
    name: "is a failed vote in time while its server is silent, and leaves no key afterwards",
    async run(node, context) {
      const silence = silenceOf(context);
      const resource = uniqueName();
      const redlock = new Redlock([node], { ttlMs, nodeTimeoutMs });
      try {
        await redlock.using(uniqueName(), () => {});
        await silence(silentMs);
        const startedMs = performance.now();
        const error = await redlock.acquire(resource, { waitMs: 0 }).catch((reason) => reason);
        const tookMs = performance.now() - startedMs;
        const code = isRedlockError(error) ? error.code : error;
        expectSame(`${node.name}: acquire in silence`, code, "QUORUM_UNREACHABLE");
        expectThat(tookMs < silentMs, `${node.name}: the vote failed after ${tookMs} ms only`);
        // The silence ends: what was sent may be executed now, and is taken back.
        const lease = await redlock.acquire(uniqueName(), { retryDelayMs: 20, waitMs: 4_000 });
        await lease.release();
        const left = () => replyOf(node, ["EXISTS", `lock:${resource}`]);
        await expectSoon(`${node.name}: no key is left`, ttlMs / 2, async () => !+(await left()));
      } finally {
        await redlock.close();
      }
    },
  },
  {
    name: "never answers in its server's place where the signal aborts in a silence",
    async run(node, context) {
      const silence = silenceOf(context);
      const key = uniqueName();
      await evaluated(node, "return ARGV[1]", key, "warm");
      await silence(silentMs);
      const controllers = Array.from({ length: 5 }, () => new AbortController());
      const aborted = controllers.map(({ signal }, index) =>
        settled(node, ["EVAL", "return ARGV[1]", "1", key, `n${index}`], key, signal),
      );
      for (const controller of controllers) controller.abort("OK");
      const later = Array.from({ length: 5 }, (_, index) =>
        evaluated(node, "return ARGV[1]", key, `m${index}`),
      );
      const [outcomes, replies] = await Promise.all([Promise.all(aborted), Promise.all(later)]);
      outcomes.forEach((outcome, index) => {
        if (!outcome) return;
        expectSame(`${node.name}: an aborted command's reply`, outcome.text, `n${index}`);
      });
      replies.forEach((reply, index) => {
        expectSame(`${node.name}: a command behind aborted ones`, reply, `m${index}`);
      });
    },
  },
];
