import type { Command, RedisNode } from "@redlatch/core";
import * as redis6 from "redis";
import * as redis5 from "redis5";
import { afterEach } from "vitest";

/** Both supported majors, typed as one: what differs between them is what the tests are for. */
export const drivers = [
  { driver: "node-redis 6", ...redis6 },
  { driver: "node-redis 5", ...(redis5 as unknown as typeof redis6) },
] as const;

interface Closable {
  readonly isOpen: boolean;
  destroy(): unknown;
}

const clients = new Set<Closable>();

/** Destroys the client after the test; close() would hang on a hung server. */
export function closing<T extends Closable>(client: T): T {
  clients.add(client);
  return client;
}

afterEach(async () => {
  for (const client of clients) if (client.isOpen) await client.destroy();
  clients.clear();
});

/** A reconnection soon enough for a test. */
export const soon = { reconnectStrategy: () => 50 };

export function send(
  node: RedisNode,
  command: Command,
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  const key = /^eval/i.test(command[0]) ? command[3] : command[1];
  return node.send(command, { key: key ?? "", signal });
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
