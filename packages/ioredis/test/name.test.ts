import type { RedisOptions } from "ioredis";
import { describe, expect, it } from "vitest";
import { ioredisNode } from "../src/index.ts";
import { closing, drivers } from "./drivers.ts";

describe.each(drivers)("the name of a node over $driver", ({ Redis, Cluster }) => {
  const lazyConnect = true;
  const nameOf = (options: Omit<RedisOptions, "replyMapping">) =>
    ioredisNode(closing(new Redis(options))).name;
  const clusterNameOf = (...nodes: ConstructorParameters<typeof Cluster>[0]) =>
    ioredisNode(closing(new Cluster(nodes, { lazyConnect }))).name;

  it("is host:port", () => {
    expect(nameOf({ host: "redis-a", port: 6380, lazyConnect })).toBe("redis-a:6380");
    expect(nameOf({ lazyConnect })).toBe("localhost:6379");
  });

  it("holds the database unless it is 0", () => {
    expect(nameOf({ host: "redis-a", db: 3, lazyConnect })).toBe("redis-a:6379/3");
    expect(nameOf({ host: "redis-a", db: 0, lazyConnect })).toBe("redis-a:6379");
  });

  it("is the path of a socket", () => {
    expect(nameOf({ path: "/run/redis.sock", lazyConnect })).toBe("/run/redis.sock");
  });

  it("is the master's name with Sentinel", () => {
    const sentinels = [{ host: "10.0.0.1", port: 26379 }];
    expect(nameOf({ sentinels, name: "orders", lazyConnect })).toBe("orders");
  });

  it("never holds credentials", () => {
    const client = closing(new Redis("redis://user:secret@redis-a:6380/2", { lazyConnect }));
    expect(ioredisNode(client).name).toBe("redis-a:6380/2");
    expect(nameOf({ username: "user", password: "secret", host: "a", lazyConnect })).toBe("a:6379");
  });

  it("is the first start-up node of a Cluster, in whatever form it comes", () => {
    expect(clusterNameOf({ host: "a", port: 7000 }, { host: "b" })).toBe("cluster:a:7000");
    expect(clusterNameOf({ host: "a" })).toBe("cluster:a:6379");
    expect(clusterNameOf("redis://user:secret@a:7000/0?password=p@ss")).toBe("cluster:a:7000");
    expect(clusterNameOf("a:7000")).toBe("cluster:a:7000");
    expect(clusterNameOf("127.0.0.1:7000")).toBe("cluster:127.0.0.1:7000");
    expect(clusterNameOf(7000)).toBe("cluster:7000");
    expect(clusterNameOf("redis://user:sec/ret@a:7000")).toBe("cluster:unnamed");
  });

  it("is the one that was given", () => {
    const client = closing(new Redis({ lazyConnect }));
    expect(ioredisNode(client, { name: "eu-1" }).name).toBe("eu-1");
    expect(ioredisNode(client, { name: undefined }).name).toBe("localhost:6379");
  });

  it("comes with the client and the time limit, for the core", () => {
    const client = closing(new Redis({ lazyConnect }));
    expect(ioredisNode(client, { timeoutMs: 250 })).toMatchObject({ timeoutMs: 250 });
    expect(ioredisNode(client).timeoutMs).toBeUndefined();
    expect(ioredisNode(client).client).toBe(client);
  });
});
