import type { NodeRedisClient } from "./client.ts";

/** What is known about a client's connections, beyond their present state. */
export interface Connection {
  /** What to call when one is up, lost or ended, with the cause where there is one. */
  readonly listeners: Set<(cause: unknown) => void>;
  /** Why the last one was lost or could not be made, until it is up again. */
  cause?: unknown;
}

// One per client, however many nodes are made of it: the listeners below are never removed.
const connections = new WeakMap<object, Connection>();

/**
 * Starts to observe a client, or returns what is observed already. A client that a pool, a cluster or a
 * sentinel uses is observed as part of the whole one's connection.
 */
export function connectionOf(
  client: NodeRedisClient & { readonly masters?: unknown },
  connection: Connection = connections.get(client) ?? { listeners: new Set() },
): Connection {
  if (!connections.has(client)) {
    connections.set(client, connection);
    // A client's own `connect` comes before it can be used; a cluster has no `ready`.
    for (const event of [client.masters ? "connect" : "ready", "error", "node-error", "end"]) {
      client.on(event, (cause) => {
        connection.cause = cause;
        for (const listener of connection.listeners) listener(cause);
      });
    }
  }
  return connection;
}
