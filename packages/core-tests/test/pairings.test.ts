import { ioredisNode } from "@redlatch/ioredis";
import { nodeRedisNode } from "@redlatch/redis";
import { upstashNode } from "@redlatch/upstash";
import { Redis as Upstash } from "@upstash/redis";
import { Cluster, Redis } from "ioredis";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { describe, expect, it } from "vitest";

const address = { host: "127.0.0.1", port: 1 };

/** One of each kind of client, none of them connected. */
const CLIENTS: Readonly<Record<string, Readonly<Record<string, () => unknown>>>> = {
  "@redlatch/ioredis": {
    Redis: () => new Redis({ ...address, lazyConnect: true }),
    Cluster: () => new Cluster([address], { lazyConnect: true }),
  },
  "@redlatch/redis": {
    client: () => createClient({ socket: address }),
    pool: () => createClientPool({ socket: address }),
    cluster: () => createCluster({ rootNodes: [{ socket: address }] }),
    sentinel: () => createSentinel({ name: "main", sentinelRootNodes: [address] }),
  },
  "@redlatch/upstash": {
    Redis: () => new Upstash({ url: "https://redis.test", token: "token" }),
  },
};

const ADAPTERS = {
  "@redlatch/ioredis": ioredisNode,
  "@redlatch/redis": nodeRedisNode,
  "@redlatch/upstash": upstashNode,
} as Readonly<Record<string, (client: never) => unknown>>;

const pairs = Object.entries(ADAPTERS).flatMap(([adapter, makeNode]) =>
  Object.entries(CLIENTS).flatMap(([right, kinds]) =>
    Object.entries(kinds).map(([kind, makeClient]) => ({
      ...{ adapter, kind, right },
      make: () => makeNode(makeClient() as never),
    })),
  ),
);

describe("an adapter", () => {
  it.each(pairs.filter(({ adapter, right }) => adapter === right))(
    "$adapter takes its own $kind",
    ({ make }) => expect(make()).toMatchObject({ send: expect.any(Function) }),
  );

  it.each(pairs.filter(({ adapter, right }) => adapter !== right))(
    "$adapter refuses a $kind and names $right",
    ({ make, right }) => {
      expect(make).toThrow(TypeError);
      expect(make).toThrow(new RegExp(`use ${right}$`));
    },
  );
});
