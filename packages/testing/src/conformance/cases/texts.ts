import { Redlock } from "@redlatch/core";
import type { ConformanceCase } from "../case.ts";
import { evaluated, replyOf } from "../exchange.ts";
import { expectSame } from "../expectation.ts";
import { HARD_TEXTS, uniqueName } from "../names.ts";

/*
 * A plain GET of "null" or "007" is not asked for: some drivers parse such a reply, and the core's own
 * replies are made so that this does not matter. What is asked for is that Redis gets what was sent, and
 * that a holder's value comes back as the core reads it.
 */

const STORE = "redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000) return #ARGV[1]";
const COMPARE = "return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0";
const SHOW = "return 'held 5 ' .. redis.call('GET', KEYS[1])";

export const textCases: readonly ConformanceCase[] = [
  {
    name: "passes values on as they are, whatever they look like",
    async run(node) {
      const key = uniqueName();
      for (const text of HARD_TEXTS) {
        const bytes = String(new TextEncoder().encode(text).length);
        const what = `${node.name}: the value ${JSON.stringify(text)}`;
        expectSame(`${what}, bytes`, await evaluated(node, STORE, key, text), bytes);
        expectSame(`${what}, compared`, await evaluated(node, COMPARE, key, text), "1");
        expectSame(`${what}, shown`, await evaluated(node, SHOW, key), `held 5 ${text}`);
      }
      await replyOf(node, ["DEL", key]);
    },
  },
  {
    name: "passes keys on as they are, whatever they look like",
    async run(node) {
      const name = uniqueName();
      const keys = HARD_TEXTS.map((text) => `${text}:${name}:${text}`);
      for (const key of keys) await evaluated(node, STORE, key, key);
      for (const key of keys) {
        const what = `${node.name}: the key ${JSON.stringify(key)}`;
        expectSame(what, await evaluated(node, SHOW, key), `held 5 ${key}`);
        expectSame(`${what}, deleted`, await replyOf(node, ["DEL", key]), "1");
      }
    },
  },
  {
    name: "shows resources and owners as they are, whatever they look like",
    async run(node) {
      const redlock = new Redlock([node], { ttlMs: 30_000 });
      const name = uniqueName();
      try {
        await Promise.all(
          HARD_TEXTS.map((text) =>
            redlock.using(`${name}:${text}`, { owner: text }, async () => {
              const { holder } = await redlock.inspect(`${name}:${text}`);
              const what = `${node.name}: the owner of the resource ${JSON.stringify(text)}`;
              expectSame(what, holder?.owner, text);
            }),
          ),
        );
      } finally {
        await redlock.close();
      }
    },
  },
];
