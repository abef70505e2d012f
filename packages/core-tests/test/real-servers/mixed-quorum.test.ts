import { isRedlockError, Redlock } from "@redlatch/core";
import {
  pollUntil,
  type RealServer,
  type RestServer,
  restServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Connection } from "./harness/harness.ts";
import { connect as overIoredis } from "./harness/ioredis.ts";
import { connect as overNodeRedis } from "./harness/node-redis.ts";
import { connect as overUpstash } from "./harness/upstash.ts";

const TTL_MS = 3_000;
const DRIVERS = ["ioredis", "node-redis", "upstash"];
const NAMES = [...DRIVERS].sort();

let pool: ServerPool;
let servers: readonly RealServer[];
let rest: RestServer;
const connections: Connection[] = [];
const redlocks: Redlock[] = [];

beforeAll(async () => {
  pool = await startServers(3);
  servers = pool.servers;
  rest = await restServer(servers[2]!);
});
afterAll(async () => {
  await rest?.stop();
  await pool?.stop();
});
beforeEach(async () => {
  for (const server of servers) await (server.alive ? server.flush() : server.restart());
});
afterEach(async () => {
  await Promise.all(redlocks.splice(0).map((redlock) => redlock.close({ graceMs: 0 })));
  for (const connection of connections.splice(0)) connection.close();
});

/** What another process would have: a Redlock of one node per driver, over clients of its own. */
function mixed(): Redlock {
  const made = [
    overIoredis(servers[0]!.url, "ioredis"),
    overNodeRedis(servers[1]!.url, "node-redis"),
    overUpstash(rest.url, "upstash"),
  ];
  connections.push(...made);
  const redlock = new Redlock(
    made.map(({ node }) => node),
    { ttlMs: TTL_MS },
  );
  redlocks.push(redlock);
  return redlock;
}

/** Which servers have the key. */
async function holding(key: string): Promise<string[]> {
  const replies = await Promise.all(
    servers.map(async (server) => server.alive && (await server.command("EXISTS", key)) === 1),
  );
  return DRIVERS.filter((_, index) => replies[index]);
}

const nothingLeft = (resource: string) =>
  pollUntil("no key is left", async () => (await holding(`lock:${resource}`)).length === 0, {
    timeoutMs: TTL_MS / 2,
  });

describe("one ioredis, one node-redis and one Upstash node", () => {
  it("vote together: one process holds, another does not, until the release", async () => {
    const [one, two] = [mixed(), mixed()];
    const lease = await one.acquire("a");
    await pollUntil("all have voted", () => lease.votes.length === 3);
    const votes = lease.votes.map(({ node, outcome }) => `${node} ${outcome}`);
    expect(votes.sort()).toEqual(NAMES.map((name) => `${name} granted`));
    expect(await holding("lock:a")).toEqual(DRIVERS);
    expect(await two.tryAcquire("a")).toBeNull();
    const { nodes } = await two.inspect("a");
    expect(nodes.map(({ state }) => state)).toEqual(["held", "held", "held"]);
    const before = lease.deadline;
    await lease.extend(2 * TTL_MS);
    expect(lease.deadline).toBeGreaterThan(before);
    expect(await lease.release()).toBe("released");
    await nothingLeft("a");
    const next = await two.tryAcquire("a");
    expect(await next?.release()).toBe("released");
  });

  it("let one in at a time where four processes compete", async () => {
    let inside = 0;
    let most = 0;
    let done = 0;
    const work = async (redlock: Redlock) => {
      for (let round = 0; round < 5; round++) {
        await redlock.using("a", { waitMs: 30_000 }, async (lease) => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setTimeout(resolve, 5));
          lease.assertHeld();
          inside--;
          done++;
        });
      }
    };
    await Promise.all([mixed(), mixed(), mixed(), mixed()].map(work));
    expect({ most, done }).toEqual({ most: 1, done: 20 });
    await nothingLeft("a");
  });

  it("release a lock that no majority granted", async () => {
    for (const server of servers.slice(0, 2)) {
      await server.command("SET", "lock:a", "somebody-else", "PX", "60000");
    }
    expect(await mixed().tryAcquire("a")).toBeNull();
    await pollUntil("what was granted is undone", async () => {
      return (await holding("lock:a")).join() === "ioredis,node-redis";
    });
  });

  describe.each(DRIVERS)("with the one over %s down", (down) => {
    it("lock, exclude, extend and release without it, and tell of it", async () => {
      const [one, two] = [mixed(), mixed()];
      for (const redlock of [one, two]) await (await redlock.acquire("warm-up")).release();
      const failed: string[] = [];
      one.on("nodeFailed", ({ node }) => failed.push(node));
      await servers[DRIVERS.indexOf(down)]!.kill();
      const lease = await one.acquire("a");
      expect(await two.tryAcquire("a")).toBeNull();
      await lease.extend(2 * TTL_MS);
      expect(await lease.release()).toBe("released");
      await pollUntil("the failure is told", () => failed.length > 0);
      expect(failed).toEqual([down]);
      await nothingLeft("a");
    });

    it("are no quorum any more once another one is down, and say why", async () => {
      const redlock = mixed();
      await (await redlock.acquire("warm-up")).release();
      const index = DRIVERS.indexOf(down);
      const others = [index, (index + 1) % 3];
      await Promise.all(others.map((other) => servers[other]!.kill()));
      const error = await redlock.acquire("a", { waitMs: 0 }).catch((cause: unknown) => cause);
      if (!isRedlockError(error, "QUORUM_UNREACHABLE")) throw error;
      const failures = error.votes.filter(({ outcome }) => outcome === "failed");
      expect(failures.map(({ node }) => node).sort()).toEqual(
        others.map((other) => DRIVERS[other]).sort(),
      );
      await nothingLeft("a");
    });
  });
});
