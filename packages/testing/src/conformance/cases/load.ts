import { Redlock } from "@redlatch/core";
import type { ConformanceCase } from "../case.ts";
import { evaluated, replyOf } from "../exchange.ts";
import { expectSame } from "../expectation.ts";
import { namesTogether, uniqueName } from "../names.ts";

const COMMANDS = 1_000;
const RESOURCES = 1_000;
const LARGE = 256 * 1_024;

export const loadCases: readonly ConformanceCase[] = [
  {
    name: "answers each of 1,000 commands at once with its own reply",
    async run(node) {
      const key = uniqueName();
      const replies = await Promise.all(
        Array.from({ length: COMMANDS }, (_, index) =>
          evaluated(node, "return ARGV[1]", key, `n${index}`),
        ),
      );
      replies.forEach((reply, index) => {
        expectSame(`${node.name}: reply ${index} of ${COMMANDS}`, reply, `n${index}`);
      });
    },
  },
  {
    name: "passes large values on, and large replies back",
    async run(node) {
      const key = uniqueName();
      // Two bytes each, so that pieces of a stream end in the middle of a letter.
      const text = `a${"ж".repeat(LARGE / 2)}`;
      const bytes = await replyOf(node, ["EVAL", "return #ARGV[1]", "1", key, text], key);
      expectSame(`${node.name}: bytes that arrived`, bytes, `${LARGE + 1}`);
      const back = await evaluated(node, "return ARGV[1]", key, text);
      expectSame(`${node.name}: letters that came back`, back.length, text.length);
      expectSame(`${node.name}: whether they are the same`, back === text, true);
    },
  },
  {
    name: "locks 1,000 resources at once",
    async run(node) {
      const redlock = new Redlock([node], { ttlMs: 30_000 });
      const resources = namesTogether(RESOURCES);
      try {
        const lease = await redlock.acquire(resources, { waitMs: 0 });
        const last = `lock:${resources.at(-1)}`;
        expectSame(`${node.name}: the last key`, await replyOf(node, ["EXISTS", last]), "1");
        expectSame(`${node.name}: release`, await lease.release(), "released");
        expectSame(`${node.name}: the last key`, await replyOf(node, ["EXISTS", last]), "0");
      } finally {
        await redlock.close();
      }
    },
  },
];
