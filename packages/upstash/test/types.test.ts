import type { RedisNode } from "@redlatch/core";
import type { Redis } from "@upstash/redis";
import type { Redis as CloudflareRedis } from "@upstash/redis/cloudflare";
import type { Redis as FastlyRedis } from "@upstash/redis/fastly";
import type { Redis as NodeRedis } from "@upstash/redis/node";
import type { Redis as Redis120 } from "upstash120";
import type { Redis as Redis135 } from "upstash135";
import { expectTypeOf, it } from "vitest";
import { type UpstashClient, upstashNode } from "../src/index.ts";

/** What the clients of other libraries look like to a type. */
interface NodeRedisClient {
  readonly isOpen: boolean;
  connect(): Promise<this>;
  sendCommand(args: readonly string[]): Promise<unknown>;
}
interface IoredisClient {
  readonly isCluster: boolean;
  call(name: string, ...args: string[]): Promise<unknown>;
  pipeline(): unknown;
}

// Checked by tsc (the `types` task); at run time there is nothing to see.
it("accepts the clients of every entry and version, and nothing else, at compile time", () => {
  expectTypeOf<Redis>().toExtend<UpstashClient>();
  expectTypeOf<NodeRedis>().toExtend<UpstashClient>();
  expectTypeOf<CloudflareRedis>().toExtend<UpstashClient>();
  expectTypeOf<FastlyRedis>().toExtend<UpstashClient>();
  expectTypeOf<Redis135>().toExtend<UpstashClient>();
  expectTypeOf<Redis120>().toExtend<UpstashClient>();
  expectTypeOf<NodeRedisClient>().not.toExtend<UpstashClient>();
  expectTypeOf<IoredisClient>().not.toExtend<UpstashClient>();
  expectTypeOf(upstashNode).returns.toEqualTypeOf<RedisNode>();

  const never = (_: () => void) => {};
  never(() => upstashNode({} as Redis, { name: "a", timeoutMs: 100 }));
  never(() => upstashNode({} as CloudflareRedis, { name: undefined, timeoutMs: undefined }));
  // @ts-expect-error a node-redis client
  never(() => upstashNode({} as NodeRedisClient));
  // @ts-expect-error an ioredis client
  never(() => upstashNode({} as IoredisClient));
  // @ts-expect-error the configuration of a client
  never(() => upstashNode({ url: "https://host", token: "secret" }));
  // @ts-expect-error null
  never(() => upstashNode(null));
  // @ts-expect-error no client
  never(() => upstashNode());
  // @ts-expect-error a URL
  never(() => upstashNode("https://host"));
  // @ts-expect-error an option that does not exist
  never(() => upstashNode({} as Redis, { timeout: 100 }));
});
