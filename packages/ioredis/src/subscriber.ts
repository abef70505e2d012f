import type { RedisNode } from "@redlatch/core";
import type { Driver } from "./client.ts";

type Subscribe = NonNullable<RedisNode["subscribe"]>;

/** Subscribes over one connection per node, opened for the first channel and closed after the last one. */
export function subscriberOf(client: Driver): Subscribe {
  const channels = new Map<string, Set<() => void>>();
  let connection: Driver | undefined;

  const open = (): Driver => {
    if (connection) return connection;
    // A Cluster keeps a connection for subscriptions by itself. Of one's own: it waits for its first connection,
    // and gives up soon where there is none.
    const settings = { keyPrefix: "", enableOfflineQueue: true, maxRetriesPerRequest: 1 };
    const opened = client.isCluster ? client : client.duplicate(settings);
    // The client's own connection tells how the server is doing.
    if (opened !== client) opened.on("error", () => {});
    // It keeps no process alive.
    opened.on("connect", () => opened.stream?.unref?.());
    opened.on("message", (channel) => {
      for (const heard of channels.get(channel as string) ?? []) heard();
    });
    connection = opened;
    return opened;
  };

  return async (channel, listener) => {
    // Else it would look for the server for as long as that is down, whoever waits meanwhile.
    if (client.status !== "ready") throw new Error("not connected");
    const used = open();
    const listeners = channels.get(channel) ?? new Set();
    channels.set(channel, listeners);
    // A function of our own, so that the same listener added twice is two subscriptions.
    const heard = (): void => listener();
    listeners.add(heard);
    const end = async (): Promise<void> => {
      if (!listeners.delete(heard) || listeners.size > 0) return;
      channels.delete(channel);
      if (channels.size > 0 || used.isCluster) await used.unsubscribe(channel);
      else if (connection === used) {
        connection = undefined;
        used.disconnect();
      }
    };
    try {
      await used.subscribe(channel);
    } catch (error) {
      await end();
      throw error;
    }
    return end;
  };
}
