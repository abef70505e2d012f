import {
  outcome,
  pollUntil,
  type RealServer,
  type ServerPool,
  type TcpProxy,
  tcpProxy,
} from "@redlatch/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchLocalProcess } from "../../testkit/src/local-process.ts";
import { startAll } from "../../testkit/src/start-servers.ts";
import { nodeRedisNode } from "../src/index.ts";
import { closing, drivers, pause, send, soon } from "./drivers.ts";
import { type Sentinel, startSentinel } from "./sentinel.ts";

const INCREMENT = "return redis.call('INCR', KEYS[1])";
const POLLING = { timeoutMs: 30_000, intervalMs: 50 };

let pool: ServerPool;
let sentinel: Sentinel;
let master: RealServer;
let replica: RealServer;
let proxies: TcpProxy[];

beforeAll(async () => {
  // Local processes: the sentinel tells clients their own addresses.
  pool = await startAll(2, {}, launchLocalProcess);
  [master, replica] = pool.servers as [RealServer, RealServer];
  proxies = await Promise.all(pool.servers.map((server) => tcpProxy(server)));
  await replica.command("REPLICAOF", master.host, String(master.port));
  await linked();
  sentinel = await startSentinel(master);
  await pollUntil(
    "the sentinel knows the replica",
    async () =>
      JSON.stringify(await sentinel.command("SENTINEL", "REPLICAS", "main")).includes(
        `${replica.port}`,
      ),
    POLLING,
  );
});
afterAll(async () => {
  await sentinel?.stop();
  await Promise.all(proxies?.map((proxy) => proxy.stop()) ?? []);
  await pool?.stop();
});
beforeEach(async () => {
  for (const proxy of proxies) await proxy.heal();
  for (const server of pool.servers) await server.resume();
  await master.flush();
  for (const server of pool.servers) await server.command("CONFIG", "RESETSTAT");
});

const linked = () =>
  pollUntil(
    "the replica is linked",
    async () => String(await replica.command("INFO", "replication")).includes("link_status:up"),
    POLLING,
  );

describe.each(drivers)("a sentinel of $driver", ({ createSentinel }) => {
  type Options = Partial<Parameters<typeof createSentinel>[0]>;
  function make(options: Options = {}) {
    const client = closing(
      createSentinel({
        name: "main",
        sentinelRootNodes: [{ host: "127.0.0.1", port: sentinel.port }],
        nodeClientOptions: { socket: soon },
        nodeAddressMap: Object.fromEntries(
          pool.servers.map(({ host, port }, index) => [
            `${host}:${port}`,
            { host: proxies[index]!.host, port: proxies[index]!.port },
          ]),
        ),
        ...options,
      }),
    );
    return { client, node: nodeRedisNode(client) };
  }
  const proxyOf = (server: RealServer) => proxies[pool.servers.indexOf(server)]!;

  it("is refused at once when it was never opened, with what to do", async () => {
    const { node } = make();
    expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toMatchObject({
      message: expect.stringMatching(
        /^not connected to node-redis-\d+: closed, call client\.connect\(\) /,
      ),
    });
  });

  it("is waited for before its first ready", async () => {
    const { client, node } = make();
    const connected = client.connect();
    const replies = await Promise.all(["a", "b", "c"].map((key) => send(node, ["INCR", key])));
    expect(replies).toEqual([1, 1, 1]);
    await connected;
  });

  it.each([{}, { reserveClient: true }])("answers many commands at once: %o", async (options) => {
    const { client, node } = make(options);
    await client.connect();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => send(node, ["EVAL", INCREMENT, "1", "n"])),
    );
    expect((replies as number[]).sort((a, b) => a - b).at(-1)).toBe(20);
  });

  it("would lose leases by itself with a masterPoolSize, and wait for ever (the trap)", async () => {
    const { client } = make({ masterPoolSize: 3 });
    await client.connect();
    const replies = Promise.all(Array.from({ length: 20 }, () => client.incr("n")));
    expect(await outcome(replies, 500)).toBe("pending");
  });

  it("never asks a replica, in spite of replicaPoolSize", async () => {
    const { client, node } = make({ replicaPoolSize: 2 });
    await client.connect();
    for (let i = 0; i < 10; i++) await send(node, ["GET", "a"]);
    expect(String(await replica.command("INFO", "commandstats"))).not.toContain("cmdstat_get:");
    expect(String(await master.command("INFO", "commandstats"))).toContain("cmdstat_get:");
  });

  it("would run a command twice whose reply was lost (the trap)", async () => {
    const { client } = make();
    await client.connect();
    proxyOf(master).dropReplies(1);
    expect(await client.incr("n")).toBe(2);
  });

  it("rejects a command whose reply was lost, and runs it once", async () => {
    const { client, node } = make();
    await client.connect();
    proxyOf(master).dropReplies(1);
    expect(await outcome(send(node, ["EVAL", INCREMENT, "1", "n"]))).toMatchObject({
      message: expect.stringContaining("not connected to"),
      cause: expect.any(Error),
    });
    await pollUntil("it votes again", () => send(node, ["GET", "n"]), POLLING);
    await pause(100);
    expect(await send(node, ["GET", "n"])).toBe("1");
  });

  it("fails fast while the master cannot be reached, and runs nothing later", async () => {
    const { client, node } = make();
    await client.connect();
    await send(node, ["SET", "a", "1"]);
    await proxyOf(master).refuse();
    await pollUntil("the loss is noticed", () => !client.getMasterNode());
    for (let i = 0; i < 3; i++) {
      const error = await outcome(send(node, ["EVAL", INCREMENT, "1", "n"]), 100);
      expect(error).toMatchObject({
        message: expect.stringContaining("not connected to"),
        cause: expect.any(Error),
      });
    }
    await proxyOf(master).listen();
    await pollUntil("it votes again", () => send(node, ["GET", "a"]), POLLING);
    expect(await send(node, ["GET", "n"])).toBeNull();
  });

  it("votes with the new master after a failover, not for what the old one was asked", async () => {
    const { client, node } = make();
    await client.connect();
    await send(node, ["SET", "a", "1"]);
    await pollUntil(
      "the replica has it",
      async () => (await replica.command("GET", "a")) === "1",
      POLLING,
    );
    await master.hang();
    const inFlight = outcome(send(node, ["EVAL", INCREMENT, "1", "n"]), 20_000);
    await sentinel.command("SENTINEL", "FAILOVER", "main");
    await pollUntil(
      "the replica is promoted",
      async () => String(await replica.command("ROLE")).startsWith("master"),
      POLLING,
    );
    [master, replica] = [replica, master];
    // The driver would send it to the new master, too.
    expect(await inFlight).toBeInstanceOf(Error);
    await replica.resume();
    // The sentinel takes its time with that.
    await replica.command("REPLICAOF", master.host, String(master.port));
    await linked();
    await pollUntil("it votes again", () => send(node, ["SET", "b", "2"]), POLLING);
    expect(await master.command("GET", "b")).toBe("2");
    expect(await send(node, ["EVAL", INCREMENT, "1", "n"])).toBe(1);
  });

  it("rejects with the cause when no sentinel answers", async () => {
    const { client, node } = make({
      sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }],
      maxCommandRediscovers: 0,
    });
    client.connect().catch(() => {});
    expect(await outcome(send(node, ["SET", "a", "1"]))).toMatchObject({
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});
