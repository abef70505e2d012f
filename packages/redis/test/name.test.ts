import { describe, expect, it } from "vitest";
import { nodeRedisNode } from "../src/index.ts";
import { drivers } from "./drivers.ts";

describe.each(drivers)("the name of a node over $driver", (driver) => {
  const { createClient, createClientPool, createCluster, createSentinel } = driver;
  type Root = Parameters<typeof createCluster>[0]["rootNodes"][number];
  const nameOf = (options?: Parameters<typeof createClient>[0]) =>
    nodeRedisNode(createClient(options)).name;
  const clusterNameOf = (...rootNodes: Root[]) => nodeRedisNode(createCluster({ rootNodes })).name;

  it("is host:port", () => {
    expect(nameOf({ socket: { host: "redis-a", port: 6380 } })).toBe("redis-a:6380");
    expect(nameOf({ socket: { port: 6380 } })).toBe("localhost:6380");
    expect(nameOf()).toBe("localhost:6379");
    expect(nameOf({ url: "redis://redis-a:6380" })).toBe("redis-a:6380");
  });

  it("holds the database unless it is 0", () => {
    const socket = { host: "redis-a", port: 6379 };
    expect(nameOf({ socket, database: 3 })).toBe("redis-a:6379/3");
    expect(nameOf({ socket, database: 0 })).toBe("redis-a:6379");
    expect(nameOf({ url: "redis://redis-a:6379/3" })).toBe("redis-a:6379/3");
  });

  it("is the path of a socket", () => {
    expect(nameOf({ socket: { path: "/run/redis.sock" } as never })).toBe("/run/redis.sock");
  });

  it("is the first root node of a cluster", () => {
    expect(clusterNameOf({ socket: { host: "a", port: 7000 } }, { url: "redis://b" })).toBe(
      "cluster:a:7000",
    );
    expect(clusterNameOf({ socket: { host: "a" } })).toBe("cluster:a:6379");
    expect(clusterNameOf({ url: "redis://a:7000" })).toBe("cluster:a:7000");
  });

  it("is a number of its own for a pool and a sentinel, which do not tell where they connect to", () => {
    const sentinelRootNodes = [{ host: "127.0.0.1", port: 1 }];
    const names = [
      createClientPool({ url: "redis://a" }),
      createClientPool({ url: "redis://b" }),
      createSentinel({ name: "main", sentinelRootNodes }),
    ].map((client) => nodeRedisNode(client).name);
    for (const name of names) expect(name).toMatch(/^node-redis-\d+$/);
    expect(new Set(names).size).toBe(3);
  });

  it("never holds credentials", () => {
    expect(nameOf({ url: "redis://user:secret@redis-a:6380/2" })).toBe("redis-a:6380/2");
    const socket = { host: "a", port: 1 };
    expect(nameOf({ username: "user", password: "secret", socket })).toBe("a:1");
    expect(clusterNameOf({ url: "redis://user:secret@a:7000" })).toBe("cluster:a:7000");
    for (const url of ["redis://user:sec/ret@a:7000", "redis://user:sec?ret@a", "secret"]) {
      expect(clusterNameOf({ url })).not.toMatch(/sec|ret/);
    }
  });

  it("is the one that was given", () => {
    const client = createClient();
    expect(nodeRedisNode(client, { name: "eu-1" }).name).toBe("eu-1");
    expect(nodeRedisNode(client, { name: undefined }).name).toBe("localhost:6379");
  });

  it("comes with the client and the time limit, for the core", () => {
    const client = createClient();
    expect(nodeRedisNode(client, { timeoutMs: 250 })).toMatchObject({ timeoutMs: 250 });
    expect(nodeRedisNode(client).timeoutMs).toBeUndefined();
    expect(nodeRedisNode(client).client).toBe(client);
  });
});
