import { ioredisNode } from "@redlatch/ioredis";
import { startServers } from "@redlatch/testkit";
import { Redis } from "ioredis";
import type { Connection, Harness } from "./harness.ts";

export function connect(url: string, name: string): Connection {
  const client = new Redis(url);
  return {
    node: ioredisNode(client, { name }),
    unref: () => client.stream.unref(),
    close: () => client.disconnect(),
  };
}

export const ioredis = (ttlMs: number): Harness => ({
  title: `ioredis, ttl ${ttlMs} ms`,
  ttlMs,
  module: new URL(import.meta.url),
  startNodes: startServers,
  connect,
});
