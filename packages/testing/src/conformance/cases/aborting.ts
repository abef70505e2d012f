import type { Command, RedisNode } from "@redlatch/core";
import type { ConformanceCase } from "../case.ts";
import { evaluated, pause, replyOf, shown, textOf } from "../exchange.ts";
import { expectSame } from "../expectation.ts";
import { uniqueName } from "../names.ts";

/*
 * To honour the signal is optional: an aborted command may reject, or resolve with Redis' own reply, or
 * pend. What it must never do is resolve with something else, which could be taken for a grant.
 */

/** Abort reasons that read like replies: a driver which resolves with the reason is found out. */
const REASONS: readonly unknown[] = ["OK", "1", 1, new Error("no longer wanted"), undefined];

const SET = "redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000) return 'set ' .. ARGV[1]";

export const abortingCases: readonly ConformanceCase[] = [
  {
    name: "never answers in Redis' place where the signal had aborted before",
    async run(node) {
      await Promise.all(REASONS.map((reason) => expectHonest(node, reason, "before")));
    },
  },
  {
    name: "never answers in Redis' place where the signal aborts at once",
    async run(node) {
      await Promise.all(REASONS.map((reason) => expectHonest(node, reason, "at once")));
    },
  },
  {
    name: "goes on after aborted commands: every reply belongs to its command",
    async run(node) {
      const key = uniqueName();
      const controllers = Array.from({ length: 30 }, () => new AbortController());
      const aborted = controllers.map(({ signal }, index) =>
        settled(node, ["EVAL", "return ARGV[1]", "1", key, `n${index}`], key, signal),
      );
      const others = Array.from({ length: 30 }, (_, index) =>
        evaluated(node, "return ARGV[1]", key, `m${index}`),
      );
      for (const controller of controllers) controller.abort("OK");
      const [replies, outcomes] = await Promise.all([Promise.all(others), Promise.all(aborted)]);
      replies.forEach((reply, index) => {
        expectSame(`${node.name}: a command among aborted ones`, reply, `m${index}`);
      });
      outcomes.forEach((outcome, index) => {
        if (!outcome) return;
        expectSame(`${node.name}: an aborted command's reply`, outcome.text, `n${index}`);
      });
    },
  },
];

/** Sends one command that sets a key, with a signal that aborts, and compares what is said with what is. */
async function expectHonest(
  node: RedisNode,
  reason: unknown,
  when: "before" | "at once",
): Promise<void> {
  const key = uniqueName();
  const controller = new AbortController();
  if (when === "before") controller.abort(reason);
  const outcome = settled(node, ["EVAL", SET, "1", key, "x"], key, controller.signal);
  controller.abort(reason);
  const answer = await outcome;
  const what = `${node.name}: aborted with ${shown(reason)}`;
  if (answer) {
    expectSame(`${what}, the reply`, answer.text, "set x");
    expectSame(`${what} but answered, the key`, await replyOf(node, ["EXISTS", key]), "1");
  }
  expectSame(`${what}, afterwards`, await evaluated(node, "return 'on'", key), "on");
  await replyOf(node, ["DEL", key]);
}

/** What an aborted command resolved with; undefined where it rejected or still pends a little later. */
export function settled(
  node: RedisNode,
  command: Command,
  key: string,
  signal: AbortSignal,
): Promise<{ readonly text: string } | undefined> {
  const answer = node.send([...command], { key, signal }).then(
    (reply) => ({ text: textOf(reply, `${node.name}: an aborted command`) }),
    () => undefined,
  );
  return Promise.race([answer, pause(500).then(() => undefined)]);
}
