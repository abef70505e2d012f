import type { RedisNode } from "@redlatch/core";
import { driverOf, type NodeRedisClient } from "./client.ts";
import { nameOf } from "./name.ts";
import { senderOf } from "./sender.ts";
import { subscriberOf } from "./subscriber.ts";

/** What {@link nodeRedisNode} takes beside the client. */
export interface NodeRedisNodeOptions {
  /**
   * Appears in votes, events and errors; unique among the nodes of a Redlock; no credentials.
   *
   * @defaultValue `host:port`, with `/db` unless it is 0, or a socket's path, for a client; `cluster:` and the
   * first root node for a cluster; `node-redis-1` and so on for a pool and a sentinel, which do not tell
   * where they connect to.
   */
  readonly name?: string | undefined;
  /** This node's own time limit for one command, in milliseconds; the core's default when left out. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Makes a voting node of what node-redis 5 (from 5.11 on) or 6 makes: a client, a pool, a cluster or a sentinel.
 *
 * The client stays yours: call its `connect()`, which is never called here, and close it yourself. While it
 * connects for the first time a command waits for it; from then on a command is rejected at once while the
 * connection is down, and node-redis' offline queue is never used. A command that was in flight when the
 * connection was lost is rejected and not sent again.
 *
 * The node listens to the client's `error` event, so that a lost connection no longer ends the process: the
 * error becomes the cause of this node's failed votes. Your own listeners are called as ever.
 *
 * @param client - One client per master.
 * @throws TypeError when `client` is not node-redis', reads from a replica, or has a URL with credentials for its
 * socket's host or path.
 * @example
 * ```ts
 * import { Redlock } from "@redlatch/core";
 * import { nodeRedisNode } from "@redlatch/redis";
 * import { createClient } from "redis";
 *
 * const urls = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
 * const clients = urls.map((url) => createClient({ url }));
 * const redlock = new Redlock(clients.map((client) => nodeRedisNode(client)));
 * for (const client of clients) client.connect().catch(() => {});
 * ```
 */
export function nodeRedisNode(
  client: NodeRedisClient,
  options: NodeRedisNodeOptions = {},
): RedisNode {
  const driver = driverOf(client);
  const { name = nameOf(driver), timeoutMs } = options;
  const subscribe = subscriberOf(driver);
  return {
    name,
    timeoutMs,
    client,
    // Over one connection.
    ordered: !(driver.execute || driver.masters || driver.getMasterNode),
    send: senderOf(driver, name),
    ...(subscribe && { subscribe }),
  };
}
