import type { RedisNode } from "@redlatch/core";
import { ioredisNode } from "@redlatch/ioredis";
import { Redis } from "ioredis";
import type { NodeSet } from "./node-set.ts";
import { Switch } from "./switch.ts";

const CLIENT_OPTIONS = {
  connectionName: "redlatch-demo",
  connectTimeout: 2_000,
  retryStrategy: (attempts: number): number => Math.min(attempts * 100, 1_000),
} as const;

/** Real servers, each behind a switch. Closing disconnects; nothing is done to the servers. */
export function realNodes(urls: readonly string[]): NodeSet {
  const clients: Redis[] = [];
  const switches: Switch[] = [];
  const connect = (): readonly RedisNode[] =>
    urls.map((url, index) => {
      const client = new Redis(url, CLIENT_OPTIONS);
      clients.push(client);
      const node = ioredisNode(client);
      switches[index] ??= new Switch(node.name);
      return switches[index].guard(node);
    });
  // The first connections are the observer's; they tell the nodes' names.
  let first: readonly RedisNode[] | undefined = connect();
  return {
    nodes: switches,
    embedded: false,
    nodeTimeoutMs: 300,
    connect() {
      const nodes = first ?? connect();
      first = undefined;
      return nodes;
    },
    close() {
      for (const client of clients) client.disconnect();
    },
  };
}
