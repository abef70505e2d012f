import { type Command, type RedisNode, Redlock } from "@redlatch/core";
import { toByteString } from "../../bytes.ts";
import { sha1Hex } from "../../sha1.ts";
import type { ConformanceCase } from "../case.ts";
import { type CoreCommands, coreCommands } from "../core-commands.ts";
import { evaluated, rawReply, refusalOf, replyOf } from "../exchange.ts";
import { expectMatch, expectSame, expectThat } from "../expectation.ts";
import { namesTogether, uniqueName } from "../names.ts";

export const scriptCases: readonly ConformanceCase[] = [
  {
    name: "refuses an unknown script with NOSCRIPT, then runs it by EVAL and knows it by EVALSHA",
    async run(node) {
      const key = uniqueName();
      const lua = `return 'script of ${key}'`;
      const sha = sha1Hex(toByteString(lua));
      const bySha: Command = ["EVALSHA", sha, "1", key];
      const refusal = await refusalOf(node, bySha, key);
      expectMatch(`${node.name}: EVALSHA of an unknown script`, refusal, /NOSCRIPT|NoScriptError/);
      expectSame(`${node.name}: EVAL`, await evaluated(node, lua, key), `script of ${key}`);
      expectSame(`${node.name}: EVALSHA`, await replyOf(node, bySha, key), `script of ${key}`);
    },
  },
  {
    name: "answers the core's scripts, sent by hand, for one key",
    run: (node) => lifeOfALock(node, [uniqueName()]),
  },
  {
    name: "answers the core's scripts, sent by hand, for several keys with one hash tag",
    run: (node) => lifeOfALock(node, namesTogether(5)),
  },
  {
    name: "votes alone in a Redlock: acquire, deny, look, extend, release",
    async run(node) {
      const resource = uniqueName();
      const [mine, other] = [1, 2].map(() => new Redlock([node], { ttlMs: 30_000 })) as [
        Redlock,
        Redlock,
      ];
      try {
        const lease = await mine.acquire(resource, { waitMs: 0, owner: "mine" });
        const second = await other.tryAcquire(resource);
        expectSame(`${node.name}: a second client's tryAcquire`, second, null);
        const { verdict, holder } = await other.inspect(resource);
        expectSame(`${node.name}: inspect's verdict`, verdict, "held");
        expectSame(`${node.name}: inspect's token`, holder?.token, lease.token);
        expectSame(`${node.name}: inspect's owner`, holder?.owner, "mine");
        await lease.extend(60_000);
        const leftMs = Number(await replyOf(node, ["PTTL", `lock:${resource}`]));
        expectThat(leftMs > 30_000, `${node.name}: extended to 60,000 ms, ${leftMs} ms are left`);
        expectSame(`${node.name}: release`, await lease.release(), "released");
        expectSame(`${node.name}: inspect`, (await other.inspect(resource)).verdict, "free");
      } finally {
        await other.forceRelease(resource);
        await Promise.all([mine.close(), other.close()]);
      }
    },
  },
];

/** What the core sends for one lock, answered by nobody but the node. */
async function lifeOfALock(node: RedisNode, resources: readonly string[]): Promise<void> {
  const ttlMs = 30_000;
  const [mine, other] = (await Promise.all([
    coreCommands(resources, ttlMs),
    coreCommands(resources, ttlMs),
  ])) as [CoreCommands, CoreCommands];
  const key = `lock:${resources[0]}`;
  const say = async (what: string, command: Command, expected: string | RegExp): Promise<void> => {
    const reply = await replyOf(node, command, key);
    if (expected instanceof RegExp) expectMatch(`${node.name}: ${what}`, reply, expected);
    else expectSame(`${node.name}: ${what}`, reply, expected);
  };
  const heldByMe = new RegExp(`^held \\d+ ${mine.token}$`);
  try {
    await say("the script that looks, free", mine.look, "");
    await say("the script that acquires", mine.acquire, "1");
    await say("the script that acquires, again", mine.acquire, "1");
    await say("the script that acquires, held", other.acquire, heldByMe);
    await say("the script that looks, held", other.look, heldByMe);
    await say("the script that extends", mine.extend, "1");
    await say("the script that extends, of another", other.extend, heldByMe);
    await say("the script that releases, of another", other.release, "0");
    await say("the script that releases", mine.release, "1");
    await say("the script that extends, free", mine.extend, "0");
    // By now the node has them in its cache.
    const bySha = await coreCommands(resources, ttlMs, "EVALSHA");
    await say("EVALSHA of the script that acquires", bySha.acquire, "1");
    await say("EVALSHA of the script that releases", bySha.release, "1");
  } finally {
    for (const resource of resources) {
      await rawReply(node, ["DEL", `lock:${resource}`], `lock:${resource}`);
    }
  }
}
