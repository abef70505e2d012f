import type { Command } from "@redlatch/core";
import type { ConformanceCase } from "../case.ts";
import { evaluated, replyOf } from "../exchange.ts";
import { expectSame } from "../expectation.ts";
import { namesTogether, uniqueName } from "../names.ts";

const KEYS = 24;

export const keyCases: readonly ConformanceCase[] = [
  {
    name: "sends each command to where its key lives, a script like a plain command",
    async run(node) {
      // Enough of them for every shard that a driver may choose from.
      const keys = Array.from({ length: KEYS }, uniqueName);
      for (const key of keys) {
        await evaluated(node, "return redis.call('SET', KEYS[1], 'x', 'PX', 60000) and 1", key);
      }
      for (const key of keys) {
        const what = `${node.name}: a key set by a script`;
        expectSame(`${what}, DEL`, await replyOf(node, ["DEL", key]), "1");
        const lua = "return redis.call('EXISTS', KEYS[1])";
        expectSame(`${what}, EXISTS in a script`, await evaluated(node, lua, key), "0");
      }
    },
  },
  {
    name: "sends a script over several keys with one hash tag to where they live",
    async run(node) {
      for (const keys of [namesTogether(2), namesTogether(7)]) {
        const lua =
          "for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', 60000) end";
        const command: Command = ["EVAL", `${lua} return #KEYS`, `${keys.length}`, ...keys, "x"];
        const count = await replyOf(node, command, keys[0]);
        expectSame(`${node.name}: keys of the script`, count, `${keys.length}`);
        for (const key of keys) {
          expectSame(`${node.name}: DEL ${key}`, await replyOf(node, ["DEL", key]), "1");
        }
      }
    },
  },
];
