/// <reference types="bun" />
import { type Command, defineNode, type RedisNode, type SendOptions } from "@redlatch/core";
import type { Redis as Upstash } from "@upstash/redis";
import type { GlideClient, GlideClusterClient } from "@valkey/valkey-glide";
import type { RedisClient } from "bun";
import type { Redis as Ioredis } from "ioredis";
import type { RedisClientPoolType, RedisClientType } from "redis";
import { expectTypeOf, it } from "vitest";

/** A function that is compiled and never called. */
const compiled = (_: (clients: Clients) => RedisNode["send"]) => {};

interface Clients {
  readonly bun: RedisClient;
  readonly glide: GlideClient;
  readonly glideCluster: GlideClusterClient;
  readonly ioredis: Ioredis;
  readonly nodeRedis: RedisClientType;
  readonly pool: RedisClientPoolType;
  readonly upstash: Upstash;
}

// Checked by tsc (the `types` task); at run time there is nothing to see.
it("lets one line make a node of each client, at compile time", () => {
  compiled(
    ({ glide }) =>
      (command) =>
        glide.customCommand(command),
  );
  compiled(
    ({ upstash }) =>
      (command) =>
        upstash.exec(command),
  );
  compiled(
    ({ nodeRedis }) =>
      (command) =>
        nodeRedis.sendCommand(command),
  );
  compiled(
    ({ pool }) =>
      (command) =>
        pool.sendCommand(command),
  );
  compiled(
    ({ bun }) =>
      ([name, ...args]) =>
        bun.send(name, args),
  );
  compiled(
    ({ ioredis }) =>
      ([name, ...args]) =>
        ioredis.call(name, ...args),
  );
  compiled(
    ({ glideCluster }) =>
      (command, { key }) =>
        glideCluster.customCommand(command, { route: { type: "primarySlotKey", key } }),
  );
  // A fresh array each time: clients that ask for a mutable one get it.
  expectTypeOf<Command>().toExtend<string[]>();
  expectTypeOf<Parameters<RedisNode["send"]>>().toEqualTypeOf<[Command, SendOptions]>();
  expectTypeOf(defineNode).returns.toEqualTypeOf<RedisNode>();

  // @ts-expect-error a callback is no promise
  compiled(() => (command, options) => void [command, options]);
  // @ts-expect-error a client is no function
  compiled(({ nodeRedis }) => nodeRedis);
});
