import type { RedisNode } from "@redlatch/core";
import type { Cluster as Cluster6, Redis as Redis6 } from "ioredis";
import type { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { expectTypeOf, it } from "vitest";
import { type IoredisClient, ioredisNode } from "../src/index.ts";

/** What a node-redis client looks like to a type. */
interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options: object;
  connect(): Promise<this>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  on(event: string, listener: (...args: unknown[]) => void): this;
}

// Checked by tsc (the `types` task); at run time there is nothing to see.
it("accepts the clients of ioredis 5 and 6, and nothing else, at compile time", () => {
  expectTypeOf<Redis6>().toExtend<IoredisClient>();
  expectTypeOf<Redis6<"resp3">>().toExtend<IoredisClient>();
  expectTypeOf<Cluster6>().toExtend<IoredisClient>();
  expectTypeOf<Redis5>().toExtend<IoredisClient>();
  expectTypeOf<Cluster5>().toExtend<IoredisClient>();
  expectTypeOf<NodeRedisClient>().not.toExtend<IoredisClient>();
  expectTypeOf(ioredisNode).returns.toEqualTypeOf<RedisNode>();

  const never = (_: () => void) => {};
  never(() => ioredisNode({} as Redis6, { name: "a", timeoutMs: 100 }));
  never(() => ioredisNode({} as Cluster5, { name: undefined, timeoutMs: undefined }));
  // @ts-expect-error a node-redis client
  never(() => ioredisNode({} as NodeRedisClient));
  // @ts-expect-error a plain object
  never(() => ioredisNode({}));
  // @ts-expect-error null
  never(() => ioredisNode(null));
  // @ts-expect-error no client
  never(() => ioredisNode());
  // @ts-expect-error a URL
  never(() => ioredisNode("redis://localhost"));
  // @ts-expect-error an option that does not exist
  never(() => ioredisNode({} as Redis6, { timeout: 100 }));
});
