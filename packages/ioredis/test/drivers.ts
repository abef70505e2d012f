import type { Command, RedisNode } from "@redlatch/core";
import { Cluster as Cluster6, Redis as Redis6, type RedisOptions } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { afterEach } from "vitest";

/** Both supported majors, typed as one: what differs between them is what the tests are for. */
export const drivers = [
  { driver: "ioredis 6", Redis: Redis6, Cluster: Cluster6, resp3: true },
  {
    driver: "ioredis 5",
    Redis: Redis5 as unknown as typeof Redis6,
    Cluster: Cluster5 as unknown as typeof Cluster6,
    resp3: false,
  },
] as const;

const clients = new Set<{ disconnect(): void }>();

/** Closes the client after the test; never by quit(), which hangs on a hung server. */
export function closing<T extends { disconnect(): void }>(client: T): T {
  clients.add(client);
  return client;
}

afterEach(() => {
  for (const client of clients) client.disconnect();
  clients.clear();
});

/** A reconnection soon enough for a test. */
export const soon = { retryStrategy: () => 50 } satisfies RedisOptions;

export function send(
  node: RedisNode,
  command: Command,
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  return node.send(command, { key: command[1] ?? "", signal });
}
