import type { ConformanceCase } from "../case.ts";
import { evaluated, refusalOf, replyOf } from "../exchange.ts";
import { expectMatch, expectSame } from "../expectation.ts";
import { uniqueName } from "../names.ts";

export const errorCases: readonly ConformanceCase[] = [
  {
    name: "rejects with Redis' error where a command is refused, and goes on",
    async run(node) {
      const key = uniqueName();
      expectSame(`${node.name}: HSET`, await replyOf(node, ["HSET", key, "field", "1"]), "1");
      try {
        const refusal = await refusalOf(node, ["GET", key]);
        expectMatch(`${node.name}: GET of a hash`, refusal, /WRONGTYPE/);
        const lua = "return redis.call('GET', KEYS[1])";
        const inScript = await refusalOf(node, ["EVAL", lua, "1", key], key);
        expectMatch(`${node.name}: GET of a hash in a script`, inScript, /WRONGTYPE/);
        expectSame(`${node.name}: after errors`, await evaluated(node, "return 'on'", key), "on");
      } finally {
        await replyOf(node, ["DEL", key]);
      }
    },
  },
  {
    name: "rejects with Redis' error where a script is not even one",
    async run(node) {
      const key = uniqueName();
      const refusal = await refusalOf(node, ["EVAL", "return return", "1", key], key);
      expectMatch(`${node.name}: EVAL of nonsense`, refusal, /compil/i);
    },
  },
  {
    name: "rejects each of many commands with its own outcome, refused or not",
    async run(node) {
      const key = uniqueName();
      const outcomes = Array.from({ length: 100 }, async (_, index) => {
        if (index % 3 > 0) return evaluated(node, "return ARGV[1]", key, `n${index}`);
        const lua = "return redis.error_reply('ERR number ' .. ARGV[1] .. ' is refused')";
        return refusalOf(node, ["EVAL", lua, "1", key, `n${index}`], key);
      });
      (await Promise.all(outcomes)).forEach((outcome, index) => {
        const what = `${node.name}: outcome of command ${index}`;
        if (index % 3 > 0) expectSame(what, outcome, `n${index}`);
        else expectMatch(what, outcome, new RegExp(`number n${index} is refused`));
      });
    },
  },
];
