import type { ConformanceCase } from "../case.ts";
import { evaluated, replyOf } from "../exchange.ts";
import { expectSame, expectThat } from "../expectation.ts";
import { uniqueName } from "../names.ts";

/** Every kind of reply that the core reads. */
const REPLIES: readonly (readonly [lua: string, text: string])[] = [
  ["return 1", "1"],
  ["return 0", "0"],
  ["return -1", "-1"],
  ["return ''", ""],
  ["return '12'", "12"],
  ["return 4503599627370497", "4503599627370497"],
  ["return 'held 123 token:owner'", "held 123 token:owner"],
  ["return 'held -1 token'", "held -1 token"],
];

export const replyCases: readonly ConformanceCase[] = [
  {
    name: "has a name and, if it advises a time limit, a possible one",
    async run({ name, timeoutMs, send }) {
      expectThat(typeof name === "string" && name, `a node's name is a text, got ${String(name)}`);
      expectThat(typeof send === "function", `${name}: send must be a function`);
      if (timeoutMs === undefined) return;
      expectThat(
        timeoutMs > 0 && timeoutMs <= Number.MAX_VALUE,
        `${name}: timeoutMs must be a positive number of milliseconds, got ${timeoutMs}`,
      );
    },
  },
  {
    name: "answers with whole numbers, texts and empty texts",
    async run(node) {
      const key = uniqueName();
      for (const [lua, text] of REPLIES) {
        expectSame(`${node.name}: ${lua}`, await evaluated(node, lua, key), text);
      }
    },
  },
  {
    name: "answers SET, GET, EXISTS, PTTL and DEL",
    async run(node) {
      const key = uniqueName();
      const what = (command: string): string => `${node.name}: ${command}`;
      expectSame(what("SET"), await replyOf(node, ["SET", key, "some text", "PX", "60000"]), "OK");
      expectSame(what("GET"), await replyOf(node, ["GET", key]), "some text");
      expectSame(what("EXISTS"), await replyOf(node, ["EXISTS", key]), "1");
      const leftMs = Number(await replyOf(node, ["PTTL", key]));
      expectThat(leftMs > 0 && leftMs <= 60_000, `${what("PTTL")}: expected ms, got ${leftMs}`);
      expectSame(what("DEL"), await replyOf(node, ["DEL", key]), "1");
      expectSame(what("DEL again"), await replyOf(node, ["DEL", key]), "0");
    },
  },
];
