import { nodeRedisNode } from "@redlatch/redis";
import { startServers } from "@redlatch/testkit";
import { createClient } from "redis";
import type { Connection, Harness } from "./harness.ts";

export function connect(url: string, name: string): Connection {
  const client = createClient({ url });
  const node = nodeRedisNode(client, { name });
  // Why it failed is the cause of the votes that fail.
  client.connect().catch(() => {});
  return { node, unref: () => client.unref(), close: () => client.destroy() };
}

export const nodeRedis = (ttlMs: number): Harness => ({
  title: `node-redis, ttl ${ttlMs} ms`,
  ttlMs,
  module: new URL(import.meta.url),
  startNodes: startServers,
  connect,
});
