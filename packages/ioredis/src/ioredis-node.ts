import type { RedisNode } from "@redlatch/core";
import { type Driver, driverOf, type IoredisClient } from "./client.ts";
import { firstAttemptOver, stateOf } from "./connection-state.ts";
import { nameOf } from "./name.ts";
import { senderOf } from "./sender.ts";
import { subscriberOf } from "./subscriber.ts";

/** What {@link ioredisNode} takes beside the client. */
export interface IoredisNodeOptions {
  /**
   * Appears in votes, events and errors; unique among the nodes of a Redlock; no credentials.
   *
   * @defaultValue `host:port`, with `/db` unless it is 0; the path of a socket; the master's name
   * with Sentinel; `cluster:` and the first start-up node for a Cluster.
   */
  readonly name?: string | undefined;
  /** This node's own time limit for one command, in milliseconds; the core's default when left out. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Makes a voting node of an ioredis client: a `Redis` or a `Cluster` of ioredis 5 or 6.
 *
 * The client stays yours: it is never closed here. Until its first `ready` a command waits for the
 * connection, which is started if it is lazy; from then on a command is rejected at once while the client
 * is not connected, and ioredis' offline queue is never used. A command that was in flight when the
 * connection closed is rejected and not sent again, except that a Cluster repeats what it had not written.
 *
 * The node listens to the client's `error` event, so that ioredis no longer prints "Unhandled error
 * event": the error becomes the cause of this node's failed votes. Your own listeners are called as ever.
 *
 * @param client - One client per master. All processes need the same `keyPrefix` and `db`.
 * @throws TypeError when `client` is not an ioredis client, reads from a replica, or has a URL with credentials
 * for its host or path.
 * @example
 * ```ts
 * import { Redlock } from "@redlatch/core";
 * import { ioredisNode } from "@redlatch/ioredis";
 * import { Redis } from "ioredis";
 *
 * const urls = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
 * const redlock = new Redlock(urls.map((url) => ioredisNode(new Redis(url))));
 * ```
 */
export function ioredisNode(client: IoredisClient, options: IoredisNodeOptions = {}): RedisNode {
  const driver = driverOf(client);
  const { name = nameOf(driver), timeoutMs } = options;
  const state = stateOf(driver);
  const sender = senderOf(driver);
  return {
    name,
    timeoutMs,
    client,
    // Over one connection.
    ordered: !driver.isCluster,
    subscribe: subscriberOf(driver),
    async send([command, ...args], { signal }) {
      signal.throwIfAborted();
      if (driver.status !== "ready") await firstAttemptOver(driver, state);
      signal.throwIfAborted();
      if (!canWrite(driver)) {
        const story = state.cause?.message ?? driver.status;
        // So that the core need not undo what never left.
        throw Object.assign(new Error(`not connected to ${name}: ${story}`, state), {
          code: "NOT_SENT",
        });
      }
      // In lower case, because older ioredis finds keys, to prefix and to route them, by that name only.
      return sender.call(command.toLowerCase(), ...args);
    },
  };
}

function canWrite(driver: Driver): unknown {
  return (
    driver.status === "ready" &&
    (driver.isCluster
      ? // Without a master in sight a Cluster would ask a replica.
        driver.nodes("master")[0]
      : // A stream that was ended on this side keeps the status until the peer has closed it, too; ioredis
        // would queue the command meanwhile.
        driver.stream?.writable)
  );
}
