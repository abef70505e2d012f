import { once } from "node:events";
import {
  outcome,
  pollUntil,
  type RealServer,
  replicate,
  type ServerPool,
  startCluster,
} from "@redlatch/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { nodeRedisNode } from "../src/index.ts";
import { closing, drivers, pause, send, soon } from "./drivers.ts";

const INCREMENT = "return redis.call('INCR', KEYS[1])";
const LOOK = "return redis.call('GET', KEYS[1]) or ''";
/** Enough to fall on every master. */
const KEYS = Array.from({ length: 30 }, (_, index) => `lock:${index}`);

const pools: ServerPool[] = [];
let masters: readonly RealServer[];
let replicas: readonly RealServer[];
let lookSha: string;

beforeAll(async () => {
  pools.push(...(await Promise.all([startCluster(3), startCluster(3)])));
  [masters, replicas] = pools.map((pool) => pool.servers) as [RealServer[], RealServer[]];
  // No failover: the tests break masters and repair them.
  for (const server of [...masters, ...replicas]) {
    await server.command("CONFIG", "SET", "cluster-replica-no-failover", "yes");
    await server.command("CONFIG", "SET", "cluster-require-full-coverage", "no");
    await server.command("CONFIG", "SET", "cluster-node-timeout", "60000");
  }
  await Promise.all(replicas.map((replica, index) => replicate(replica, masters[index]!, masters)));
});
afterAll(() => Promise.all(pools.map((pool) => pool.stop())));
beforeEach(async () => {
  for (const server of masters) {
    await server.resume();
    await pollUntil(
      "the cluster is up",
      async () => String(await server.command("CLUSTER", "INFO")).includes("cluster_state:ok"),
      { timeoutMs: 30_000, intervalMs: 50 },
    );
    await server.flush();
    lookSha = String(await server.command("SCRIPT", "LOAD", LOOK));
  }
  for (const server of [...masters, ...replicas]) await server.command("CONFIG", "RESETSTAT");
});

async function statistics(servers: readonly RealServer[], section: string): Promise<string> {
  const sections = await Promise.all(servers.map((server) => server.command("INFO", section)));
  return sections.join("\n");
}

describe.each(drivers)("a cluster of $driver", ({ createCluster }) => {
  type Options = Omit<Parameters<typeof createCluster>[0], "rootNodes">;
  const make = (options: Options = {}, roots: readonly { url: string }[] = masters) => {
    const rootNodes = roots.map(({ url }) => ({ url }));
    const client = closing(createCluster({ rootNodes, defaults: { socket: soon }, ...options }));
    return { client, node: nodeRedisNode(client) };
  };

  it("is refused at once when it was never opened, with what to do", async () => {
    const { node } = make();
    expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toMatchObject({
      message: `not connected to cluster:127.0.0.1:${masters[0]!.port}: closed, call client.connect() first`,
    });
  });

  it.each([{}, { minimizeConnections: true }, { useReplicas: true }])(
    "is waited for before its first ready: %o",
    async (options) => {
      const { client, node } = make(options);
      const connected = client.connect();
      const replies = await Promise.all(KEYS.map((key) => send(node, ["INCR", key])));
      expect(replies).toEqual(KEYS.map(() => 1));
      await connected;
    },
  );

  it.each([{}, { minimizeConnections: true }])(
    "sends each command to the master of its key, without redirections: %o",
    async (options) => {
      const { client, node } = make(options);
      await client.connect();
      for (const key of KEYS) {
        expect(await send(node, ["EVAL", INCREMENT, "1", key])).toBe(1);
        expect(await send(node, ["EVALSHA", lookSha, "1", key])).toBe("1");
        expect(await send(node, ["GET", key])).toBe("1");
        expect(await send(node, ["DEL", key])).toBe(1);
      }
      expect(await statistics(masters, "errorstats")).not.toContain("MOVED");
      for (const master of masters) {
        expect(await statistics([master], "commandstats")).toContain("cmdstat_evalsha");
      }
    },
  );

  it("would read from replicas by itself (the trap)", async () => {
    const { client } = make({ useReplicas: true });
    await client.connect();
    for (const key of [...KEYS, ...KEYS]) await client.get(key);
    expect(await statistics(replicas, "commandstats")).toContain("cmdstat_get:");
  });

  it("never asks a replica, in spite of useReplicas", async () => {
    const { client, node } = make({ useReplicas: true });
    await client.connect();
    for (const key of [...KEYS, ...KEYS]) {
      await send(node, ["GET", key]);
      await send(node, ["EVAL", LOOK, "1", key]);
      await send(node, ["EVALSHA", lookSha, "1", key]);
    }
    expect(await statistics(replicas, "commandstats")).not.toMatch(/cmdstat_(get|eval|evalsha):/);
  });

  it("follows redirections: ASK while a slot is moved, MOVED afterwards", async () => {
    const { client, node } = make();
    await client.connect();
    const key = "moving";
    const slot = String(await masters[0]!.command("CLUSTER", "KEYSLOT", key));
    const ids = await Promise.all(masters.map((server) => server.command("CLUSTER", "MYID")));
    const from = Math.min(2, Math.floor(Number(slot) / (16_384 / 3)));
    const to = (from + 1) % 3;
    const move = async (source: number, target: number) => {
      const [sourceId, targetId] = [String(ids[source]), String(ids[target])];
      await masters[target]!.command("CLUSTER", "SETSLOT", slot, "IMPORTING", sourceId);
      await masters[source]!.command("CLUSTER", "SETSLOT", slot, "MIGRATING", targetId);
      return async () => {
        for (const server of [masters[target]!, masters[source]!, ...masters]) {
          await server.command("CLUSTER", "SETSLOT", slot, "NODE", targetId);
        }
      };
    };
    const finish = await move(from, to);
    try {
      expect(await send(node, ["EVAL", INCREMENT, "1", key])).toBe(1);
      expect(await statistics(masters, "errorstats")).toContain("errorstat_ASK:count=1");
      await finish();
      expect(await send(node, ["EVAL", INCREMENT, "1", key])).toBe(2);
      expect(await statistics(masters, "errorstats")).toContain("errorstat_MOVED:count=1");
    } finally {
      await finish();
      await masters[to]!.command("DEL", key);
      await (await move(to, from))();
    }
  });

  it("passes CROSSSLOT on", async () => {
    const { client, node } = make();
    await client.connect();
    expect(await outcome(send(node, ["EVAL", LOOK, "2", "a", "b"]))).toMatchObject({
      message: expect.stringContaining("CROSSSLOT"),
    });
  });

  it("rejects with the cause when no root node answers", async () => {
    const { client, node } = make({}, [{ url: "redis://127.0.0.1:1" }]);
    client.connect().catch(() => {});
    const error = await outcome(send(node, ["SET", "a", "1"]), 5_000);
    expect(error).toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  it("fails fast after it was destroyed, and works again after connect()", async () => {
    const { client, node } = make();
    await client.connect();
    await send(node, ["SET", "a", "1"]);
    client.destroy();
    expect(await outcome(send(node, ["GET", "a"]), 20)).toMatchObject({
      message: expect.stringContaining("call client.connect() first"),
    });
    await client.connect();
    expect(await send(node, ["GET", "a"])).toBe("1");
  });

  it("waits ten seconds at most for masters that never greet, and runs nothing later", async () => {
    for (const master of masters) await master.hang();
    const { client, node } = make();
    client.connect().catch(() => {});
    const aborted = new AbortController();
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const sent = [send(node, ["SET", "a", "1"]), send(node, ["SET", "a", "1"], aborted.signal)];
      const refused = Promise.all(sent.map((one) => expect(one).rejects.toBeInstanceOf(Error)));
      await vi.advanceTimersByTimeAsync(9_000);
      aborted.abort();
      await vi.advanceTimersByTimeAsync(1_000);
      await refused;
    } finally {
      vi.useRealTimers();
    }
    expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toBeInstanceOf(Error);
    for (const master of masters) await master.resume();
    await pollUntil("it answers", async () => (await send(node, ["GET", "a"])) === null);
  });

  it("fails fast for the keys of a lost master, not for the others", async () => {
    const { client, node } = make();
    await client.connect();
    for (const key of KEYS) await send(node, ["SET", key, "1"]);
    await masters[0]!.kill();
    try {
      await once(client, "node-error");
      const results = await Promise.all(
        KEYS.map((key) => outcome(send(node, ["EVAL", INCREMENT, "1", key]), 500)),
      );
      const refused = results.filter((result) => result instanceof Error);
      expect(refused.length).toBeGreaterThan(0);
      for (const error of refused) {
        expect(error).toMatchObject({ message: expect.stringContaining("not connected to") });
      }
      expect(results.filter((result) => result === 2).length).toBe(KEYS.length - refused.length);
      expect(results).toContain(2);
    } finally {
      await masters[0]!.restart();
    }
    await pollUntil("all answer again", async () => {
      for (const key of KEYS) await send(node, ["GET", key]);
      return true;
    });
    const counts = await Promise.all(KEYS.map((key) => send(node, ["GET", key])));
    // On the lost master nothing was written later.
    expect(new Set(counts)).toEqual(new Set(["2", null]));
  });

  it("rejects the command in flight at once when its master's connection drops", async () => {
    const { client, node } = make();
    await client.connect();
    await send(node, ["EVAL", INCREMENT, "1", "n"]);
    const slot = Number(await masters[0]!.command("CLUSTER", "KEYSLOT", "n"));
    const master = masters[Math.floor(slot / (16_384 / 3))]!;
    await master.hang();
    const lost = once(client, "node-error");
    const sent = outcome(send(node, ["EVAL", INCREMENT, "1", "n"]));
    await pause(30);
    await master.kill();
    await lost;
    expect(await outcome(sent, 200)).toMatchObject({
      message: expect.stringContaining("not connected to"),
      cause: expect.any(Error),
    });
    await master.restart();
  });
});
