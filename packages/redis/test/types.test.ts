import type { RedisNode } from "@redlatch/core";
import * as redis6 from "redis";
import * as redis5 from "redis5";
import { expectTypeOf, it } from "vitest";
import { type NodeRedisClient, nodeRedisNode } from "../src/index.ts";

/** What an ioredis client looks like to a type. */
interface IoredisClient {
  readonly status: string;
  readonly isCluster: boolean;
  readonly options: object;
  connect(): Promise<void>;
  call(name: string, ...args: string[]): Promise<unknown>;
  sendCommand(command: { readonly name: string }): Promise<unknown>;
  on(event: string, listener: (error?: unknown) => void): this;
}

/** And an Upstash client. */
interface UpstashClient {
  exec(command: [string, ...unknown[]]): Promise<unknown>;
  createScript(script: string): object;
}

// Checked by tsc (the `types` task); at run time there is nothing to see.
it("accepts the clients of node-redis 5 and 6, and nothing else, at compile time", () => {
  expectTypeOf<redis6.RedisClientType>().toExtend<NodeRedisClient>();
  expectTypeOf<redis6.RedisClientPoolType>().toExtend<NodeRedisClient>();
  expectTypeOf<redis6.RedisClusterType>().toExtend<NodeRedisClient>();
  expectTypeOf<redis6.RedisSentinelType>().toExtend<NodeRedisClient>();
  expectTypeOf<redis5.RedisClientType>().toExtend<NodeRedisClient>();
  expectTypeOf<redis5.RedisClientPoolType>().toExtend<NodeRedisClient>();
  expectTypeOf<redis5.RedisClusterType>().toExtend<NodeRedisClient>();
  expectTypeOf<redis5.RedisSentinelType>().toExtend<NodeRedisClient>();
  expectTypeOf<IoredisClient>().not.toExtend<NodeRedisClient>();
  expectTypeOf<UpstashClient>().not.toExtend<NodeRedisClient>();
  expectTypeOf(nodeRedisNode).returns.toEqualTypeOf<RedisNode>();

  const never = (_: () => void) => {};
  const cluster = { rootNodes: [] };
  const sentinel = { name: "main", sentinelRootNodes: [] };
  never(() => nodeRedisNode(redis6.createClient(), { name: "a", timeoutMs: 100 }));
  never(() => nodeRedisNode(redis6.createClient({ RESP: 3 }).asap(), { name: undefined }));
  never(() => nodeRedisNode(redis6.createClientPool({ url: "redis://a" })));
  never(() => nodeRedisNode(redis6.createCluster(cluster), { timeoutMs: undefined }));
  never(() => nodeRedisNode(redis6.createSentinel(sentinel)));
  never(() => nodeRedisNode(redis5.createClient({ RESP: 3, modules: {} })));
  never(() => nodeRedisNode(redis5.createClientPool()));
  never(() => nodeRedisNode(redis5.createCluster(cluster)));
  never(() => nodeRedisNode(redis5.createSentinel(sentinel)));
  // @ts-expect-error an ioredis client
  never(() => nodeRedisNode({} as IoredisClient));
  // @ts-expect-error an Upstash client
  never(() => nodeRedisNode({} as UpstashClient));
  // @ts-expect-error a plain object
  never(() => nodeRedisNode({}));
  // @ts-expect-error null
  never(() => nodeRedisNode(null));
  // @ts-expect-error no client
  never(() => nodeRedisNode());
  // @ts-expect-error a URL
  never(() => nodeRedisNode("redis://localhost"));
  // @ts-expect-error an option that does not exist
  never(() => nodeRedisNode({} as redis6.RedisClientType, { timeout: 100 }));
});
