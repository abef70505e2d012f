import { once } from "node:events";
import {
  outcome,
  type RealServer,
  replicate,
  type ServerPool,
  startCluster,
} from "@redlatch/testkit";
import type { ClusterOptions } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ioredisNode } from "../src/index.ts";
import { closing, drivers, send } from "./drivers.ts";

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
  await Promise.all(replicas.map((replica, index) => replicate(replica, masters[index]!, masters)));
});
afterAll(() => Promise.all(pools.map((pool) => pool.stop())));
beforeEach(async () => {
  for (const server of masters) {
    await server.flush();
    lookSha = String(await server.command("SCRIPT", "LOAD", LOOK));
  }
  for (const server of [...masters, ...replicas]) await server.command("CONFIG", "RESETSTAT");
});

async function statistics(servers: readonly RealServer[], section: string): Promise<string> {
  const sections = await Promise.all(servers.map((server) => server.command("INFO", section)));
  return sections.join("\n");
}

describe.each(drivers)("a Cluster of $driver", ({ Cluster }) => {
  const make = (options: Omit<ClusterOptions, "redisOptions"> = {}) => {
    const { host, port } = masters[0]!;
    const client = closing(new Cluster([{ host, port }], options));
    return { client, node: ioredisNode(client) };
  };

  it.each([{ lazyConnect: false }, { lazyConnect: true }])(
    "is waited for before its first ready: %o",
    async (options) => {
      const { client, node } = make(options);
      expect(node.name).toBe(`cluster:127.0.0.1:${masters[0]!.port}`);
      expect(client.status).toBe(options.lazyConnect ? "wait" : "connecting");
      expect(await send(node, ["SET", "a", "1"])).toBe("OK");
    },
  );

  it.each([{}, { enableAutoPipelining: true }, { keyPrefix: "app:" }])(
    "sends each command to the master of its key, without redirections: %o",
    async (options) => {
      const { node } = make(options);
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

  it("prefixes keys with the client's keyPrefix", async () => {
    const { node } = make({ keyPrefix: "{app}:" });
    expect(await send(node, ["EVAL", "return KEYS[2]", "2", "a", "b"])).toBe("{app}:b");
  });

  it("would read from replicas by itself (the trap)", async () => {
    const { client } = make({ scaleReads: "slave" });
    await once(client, "ready");
    for (const key of KEYS) await client.get(key);
    expect(await statistics(replicas, "commandstats")).toContain("cmdstat_get:");
  });

  it.each([
    { scaleReads: "slave" as const },
    { scaleReads: "all" as const },
    { scaleReads: (nodes: unknown[]) => nodes.at(-1) as never },
    { scaleReads: "slave" as const, enableAutoPipelining: true },
  ])("never asks a replica: %o", async (options) => {
    const { node } = make(options);
    for (const key of KEYS) {
      await send(node, ["GET", key]);
      await send(node, ["get", key]);
      await send(node, ["EVAL", LOOK, "1", key]);
      await send(node, ["EVALSHA", lookSha, "1", key]);
    }
    expect(await statistics(replicas, "commandstats")).not.toMatch(/cmdstat_(get|eval|evalsha):/);
  });

  it("passes CROSSSLOT on", async () => {
    const { node } = make();
    expect(await outcome(send(node, ["EVAL", LOOK, "2", "a", "b"]))).toMatchObject({
      message: expect.stringContaining("CROSSSLOT"),
    });
  });

  it("rejects with the cause when no start-up node answers, and prints nothing", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    const client = closing(new Cluster([{ host: "127.0.0.1", port: 1 }]));
    const error = await outcome(send(ioredisNode(client), ["SET", "a", "1"]), 5_000);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^not connected to cluster:127\.0\.0\.1:1: /),
      cause: { message: expect.stringContaining("Failed to refresh slots cache") },
    });
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  it("fails fast after it was disconnected", async () => {
    const { client, node } = make();
    await send(node, ["SET", "a", "1"]);
    client.disconnect();
    expect(await outcome(send(node, ["GET", "a"]), 20)).toMatchObject({
      message: expect.stringContaining("not connected"),
    });
    await once(client, "end");
    expect(await outcome(send(node, ["GET", "a"]), 20)).toBeInstanceOf(Error);
  });

  it("rejects with the signal's reason when it aborts before the first ready", async () => {
    const { client, node } = make();
    const controller = new AbortController();
    const sent = outcome(send(node, ["SET", "a", "1"], controller.signal));
    const reason = new Error("no more");
    controller.abort(reason);
    expect(await sent).toBe(reason);
    await vi.waitUntil(() => client.status === "ready");
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("rejects the command in flight at once when its master's connection drops", async () => {
    const { client, node } = make();
    await send(node, ["EVAL", INCREMENT, "1", "n"]);
    for (const master of masters) await master.hang();
    try {
      const sent = outcome(send(node, ["EVAL", INCREMENT, "1", "n"]));
      await new Promise((resolve) => setTimeout(resolve, 30));
      for (const connection of client.nodes("master")) connection.stream?.destroy();
      expect(await sent).toMatchObject({ message: expect.stringContaining("connection close") });
    } finally {
      for (const master of masters) await master.resume();
    }
    await vi.waitFor(async () => expect(await send(node, ["GET", "n"])).toMatch(/^[12]$/), 10_000);
  });
});
