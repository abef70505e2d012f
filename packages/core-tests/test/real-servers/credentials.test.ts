import { inspect } from "node:util";
import { type RedisNode, Redlock, type RedlockEvents } from "@redlatch/core";
import { ioredisNode } from "@redlatch/ioredis";
import { nodeRedisNode } from "@redlatch/redis";
import {
  type RealServer,
  restServer,
  type ServerPool,
  startCluster,
  startServers,
} from "@redlatch/testkit";
import { upstashNode } from "@redlatch/upstash";
import { Redis as Upstash } from "@upstash/redis";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

const PASSWORD = "right-pa55word-right";
const WRONG = "wrong-pa55word-wrong";
const SECRETS = /pa55word/;
const EVENTS: readonly (keyof RedlockEvents)[] = [
  ...([
    "attempt",
    "acquired",
    "lost",
    "released",
    "nodeFailed",
    "nodeRecovered",
    "waiting",
  ] as const),
];
const CONSOLE = ["log", "info", "warn", "error", "debug"] as const;

let pool: ServerPool;
let server: RealServer;
let cluster: ServerPool;

beforeAll(async () => {
  pool = await startServers(1, { password: PASSWORD });
  server = pool.servers[0]!;
  cluster = await startCluster(3, { password: PASSWORD });
});
afterAll(async () => {
  await cluster?.stop();
  await pool?.stop();
});

type Connect = (password: string) => RedisNode | Promise<RedisNode>;

/** Each driver's node, named by the adapter, with the password in its URL or (HTTP) as its token. */
const DRIVERS: Readonly<Record<string, Connect>> = {
  ioredis(password) {
    const client = new Redis(`redis://default:${password}@127.0.0.1:${server.port}`);
    onTestFinished(() => client.disconnect());
    return ioredisNode(client);
  },
  "node-redis"(password) {
    const client = createClient({ url: `redis://default:${password}@127.0.0.1:${server.port}` });
    onTestFinished(() => void (client.isOpen && client.destroy()));
    const node = nodeRedisNode(client);
    client.connect().catch(() => {});
    return node;
  },
  async upstash(token) {
    const rest = await restServer(server, { token: PASSWORD, password: PASSWORD });
    onTestFinished(() => rest.stop());
    return upstashNode(new Upstash({ url: rest.url, token }));
  },
};

/** The same for a cluster, which hides the error of one of its nodes in its own. */
const CLUSTERS: Readonly<Record<string, Connect>> = {
  "an ioredis Cluster"(password) {
    const [{ port }] = cluster.servers as [RealServer];
    const client = new Cluster([{ host: "127.0.0.1", port }], { redisOptions: { password } });
    onTestFinished(() => client.disconnect());
    return ioredisNode(client);
  },
  "a node-redis cluster"(password) {
    const [{ port }] = cluster.servers as [RealServer];
    const rootNodes = [{ url: `redis://127.0.0.1:${port}` }];
    const client = createCluster({ rootNodes, defaults: { password } });
    onTestFinished(() => void (client.isOpen && client.destroy()));
    const node = nodeRedisNode(client);
    client.connect().catch(() => {});
    return node;
  },
};

/** All that can be read of something: hidden properties, causes and JSON as well. */
const everything = (value: unknown): string =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity }) +
  JSON.stringify(value);

/** All that a Redlock over the node tells, and the process prints, while `act` goes on. */
async function story(node: RedisNode, act: (redlock: Redlock) => Promise<unknown[]>) {
  const printed = CONSOLE.map((kind) => vi.spyOn(console, kind).mockImplementation(() => {}));
  onTestFinished(() => void vi.restoreAllMocks());
  const redlock = new Redlock([node], { ttlMs: 1_500 });
  const told: unknown[] = [node.name];
  for (const event of EVENTS) redlock.on(event, (value) => told.push(event, value));
  told.push(...(await act(redlock)));
  await redlock.close({ graceMs: 0 });
  told.push(printed.map((spy) => spy.mock.calls));
  return everything(told);
}

const refusal = (redlock: Redlock) =>
  redlock.acquire("a", { waitMs: 0 }).catch((error: unknown) => error);

describe.each(Object.entries({ ...DRIVERS, ...CLUSTERS }))("credentials over %s", (_, connect) => {
  it("are nowhere to be read where all is well", async () => {
    const text = await story(await connect(PASSWORD), async (redlock) => {
      const lease = await redlock.acquire("a");
      return [lease.toJSON(), lease.votes, await redlock.inspect("a"), await lease.release()];
    });
    expect(text).toContain("released");
    expect(text).not.toMatch(SECRETS);
  });

  it("are nowhere to be read where they are wrong", async () => {
    const text = await story(await connect(WRONG), async (redlock) => {
      const first = await refusal(redlock);
      return [first, await refusal(redlock), await redlock.inspect("a")];
    });
    expect(text).toContain("QUORUM_UNREACHABLE");
    expect(text).not.toMatch(SECRETS);
  });
});

describe.each(Object.entries(DRIVERS))("credentials over %s", (_, connect) => {
  it("are nowhere to be read where the server is gone", async () => {
    const text = await story(await connect(PASSWORD), async (redlock) => {
      await (await redlock.acquire("a")).release();
      await server.kill();
      const first = await refusal(redlock);
      await server.restart();
      return [first, await redlock.acquire("a").then((lease) => lease.release())];
    });
    expect(text).toContain("QUORUM_UNREACHABLE");
    expect(text).not.toMatch(SECRETS);
  });
});
