import type { RedisNode } from "@redlatch/core";
import type { Driver, Subscriber } from "./client.ts";

/**
 * Subscribes over one connection per node, opened for the first channel and closed after the last one. A
 * pool cannot: it lends its connections for one command each.
 */
export function subscriberOf(driver: Driver): RedisNode["subscribe"] {
  if (driver.execute) return undefined;
  // Clusters and sentinels keep a connection for subscriptions by themselves.
  const isOwn = driver.masters || driver.getMasterNode;
  let opening: Promise<Subscriber> | undefined;
  let subscriptions = 0;

  const open = async (): Promise<Subscriber> => {
    if (isOwn) return driver;
    // Else it would look for the server for as long as that is down, whoever waits meanwhile.
    if (!driver.isReady) throw new Error("not connected");
    const connection = driver.duplicate();
    // The client's own connection tells how the server is doing.
    connection.on("error", () => {});
    await connection.connect();
    // It keeps no process alive.
    connection.unref();
    return connection;
  };

  return async (channel, listener) => {
    subscriptions++;
    opening ??= open();
    const opened = opening;
    const close = (): void => {
      if (--subscriptions > 0 || opening !== opened) return;
      opening = undefined;
      if (!isOwn) opened.then((connection) => connection.destroy()).catch(() => {});
    };
    // A function of our own, so that the same listener added twice is two subscriptions.
    const heard = (): void => listener();
    try {
      const connection = await opened;
      await connection.subscribe(channel, heard);
      return async () => {
        try {
          // Closed anyway, where it was the last one.
          if (subscriptions > 1 || isOwn) await connection.unsubscribe(channel, heard);
        } finally {
          close();
        }
      };
    } catch (error) {
      close();
      throw error;
    }
  };
}
