import {
  defineNode,
  isRedlockError,
  QuorumUnreachableError,
  type RedisNode,
  Redlock,
  type RedlockOptions,
} from "@redlatch/core";
import { pollUntil, type RestServer, type ServerPool, startServers } from "@redlatch/testkit";
import type { Redis } from "@upstash/redis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { upstashNode } from "../src/index.ts";
import { drivers, serving, TOKEN } from "./drivers.ts";

const ttlMs = 1_500;
let pool: ServerPool;
let rests: RestServer[];
const redlocks: Redlock[] = [];

beforeAll(async () => {
  pool = await startServers(3);
});
afterAll(() => pool?.stop());
beforeEach(async () => {
  rests = await Promise.all(pool.servers.map((server) => serving(server)));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(redlocks.splice(0).map((redlock) => redlock.close({ graceMs: 0 })));
  for (const server of pool.servers) await server.flush();
});

async function redlockOver(nodes: readonly RedisNode[], options: RedlockOptions): Promise<Redlock> {
  // From here on every server knows the scripts: a call is one request. One by one, as a quorum's last
  // request could meet the fault that a test is about to make.
  for (const node of nodes) {
    const single = new Redlock([node], { ttlMs });
    await single.using("warm-up", (lease) => lease.extend());
    await single.close();
  }
  const redlock = new Redlock(nodes, { ttlMs, ...options });
  redlocks.push(redlock);
  return redlock;
}

/** The values of a resource's key on each server. */
const values = () => Promise.all(pool.servers.map((server) => server.command("GET", "lock:a")));

/** Waits for less than keys need to expire by themselves, and looks again a little later. */
async function expectNothingLeft(): Promise<void> {
  const none = async () => (await values()).every((value) => value === null);
  await pollUntil("no key is left", none, { timeoutMs: ttlMs / 2 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await none()).toBe(true);
}

describe.each([drivers[0], drivers.at(-1)!])(
  "a lock over three REST servers with $driver",
  ({ make }) => {
    const clients = () => rests.map(({ url }) => make({ url, token: TOKEN }));

    async function redlockOf(options: RedlockOptions = {}): Promise<Redlock> {
      const nodes = clients().map((redis) => upstashNode(redis));
      return redlockOver(nodes, options);
    }

    it("is acquired, extended and released, and held against others", async () => {
      const [redlock, other] = await Promise.all([redlockOf(), redlockOf()]);
      const lease = await redlock.acquire("a", { waitMs: 0 });
      expect(await other.tryAcquire("a")).toBeNull();
      await lease.extend();
      expect(lease.isHeld()).toBe(true);
      expect(await lease.release()).toBe("released");
      await other.using("a", (mine) => expect(mine.isHeld()).toBe(true));
      await expectNothingLeft();
    });

    it("leaves no orphan where a release overtakes the SET", async () => {
      const redlock = await redlockOf({ nodeTimeoutMs: 100 });
      const [late] = rests as [RestServer];
      late.reorder();
      const lease = await redlock.acquire("a", { waitMs: 0 });
      expect(await lease.release()).toBe("released");
      await expectNothingLeft();
      expect(await (await redlock.acquire("a", { waitMs: 0 })).release()).toBe("released");
    });

    it("leaves no orphan where releases overtake the SETs of a majority", async () => {
      const redlock = await redlockOf({ nodeTimeoutMs: 100 });
      for (const rest of rests) rest.reorder();
      await expect(redlock.acquire("a", { waitMs: 0 })).rejects.toBeInstanceOf(
        QuorumUnreachableError,
      );
      await expectNothingLeft();
      expect(await (await redlock.acquire("a", { waitMs: 0 })).release()).toBe("released");
    });

    it("counts a lost reply as a failed vote, releases the key, and the next attempt is clean", async () => {
      const redlock = await redlockOf();
      for (const rest of rests.slice(0, 2)) rest.dropReplies(1);
      const error = await redlock.acquire("a", { waitMs: 0 }).catch((reason) => reason);
      expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
      const failed = error.votes.filter(({ outcome }: { outcome: string }) => outcome === "failed");
      expect(failed).toHaveLength(2);
      await expectNothingLeft();
      const lease = await redlock.acquire("a", { waitMs: 0 });
      await pollUntil("every node has voted", () => lease.votes.length === 3);
      expect(lease.votes.every(({ outcome }) => outcome === "granted")).toBe(true);
      expect(await lease.release()).toBe("released");
    });

    it("gives one vote per node where whatever is below sends a request again", async () => {
      const redlock = await redlockOf();
      const { fetch: once } = globalThis;
      vi.spyOn(globalThis, "fetch").mockImplementation((...request) =>
        once(...request).catch(() => once(...request)),
      );
      const before = rests.map(({ commands }) => commands);
      for (const rest of rests) rest.dropReplies(1);
      const lease = await redlock.acquire("a", { waitMs: 0 });
      await pollUntil("every node has voted", () => lease.votes.length === 3);
      expect(lease.votes.every(({ outcome }) => outcome === "granted")).toBe(true);
      expect(rests.map(({ commands }, index) => commands - before[index]!)).toEqual([2, 2, 2]);
      await lease.release();
      await expectNothingLeft();
    });

    it.each([429, 500, "html"] as const)("goes on where a minority answers %s", async (fault) => {
      const redlock = await redlockOf();
      rests[0]!.answer(fault);
      const lease = await redlock.acquire("a", { waitMs: 0 });
      await lease.extend();
      expect(await lease.release()).toBe("released");
      await expectNothingLeft();
    });
  },
);

describe("the client's own exec() as a node", () => {
  const make = (config: object) =>
    drivers[0].make({ url: "", token: TOKEN, ...config }) as Redis & { exec: Redis["exec"] };

  it.each([{}, { retry: { retries: 2, backoff: () => 1 } }])(
    "executes a retried acquire twice, and that is one vote: %o",
    async (config) => {
      const nodes = rests.map(({ url, host, port }) => {
        const redis = make({ url, ...config });
        return defineNode(`${host}:${port}`, (command) => redis.exec(command));
      });
      const redlock = await redlockOver(nodes, { nodeTimeoutMs: ttlMs / 2 });
      const before = rests.map(({ commands }) => commands);
      for (const rest of rests) rest.dropReplies(1);
      const lease = await redlock.acquire("a", { waitMs: 0 });
      await pollUntil("every node has voted", () => lease.votes.length === 3);
      expect(lease.votes.every(({ outcome }) => outcome === "granted")).toBe(true);
      expect(rests.map(({ commands }, index) => commands - before[index]!)).toEqual([2, 2, 2]);
      expect(await lease.release()).toBe("released");
      await expectNothingLeft();
    },
  );

  it("recognises NOSCRIPT in the words of automatic pipelining", async () => {
    const redis = make({ url: rests[0]!.url });
    const node = defineNode("piped", ([name, script, count, ...rest]) => {
      const args: [string, string[], string[]] = [
        script!,
        rest.slice(0, Number(count)),
        rest.slice(Number(count)),
      ];
      return name === "EVALSHA" ? redis.evalsha(...args) : redis.eval(...args);
    });
    await pool.servers[0]!.command("SCRIPT", "FLUSH");
    await expect(
      node.send(["EVALSHA", "0".repeat(40), "0"], {
        key: "",
        signal: new AbortController().signal,
      }),
    ).rejects.toThrow("Command failed: NOSCRIPT");
    const redlock = new Redlock([node], { ttlMs, nodeTimeoutMs: ttlMs / 2 });
    redlocks.push(redlock);
    expect(await (await redlock.acquire("a", { waitMs: 0 })).release()).toBe("released");
  });
});
