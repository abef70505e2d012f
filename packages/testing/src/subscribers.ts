/** Receives a message; the core passes listeners that take no argument. */
export type MessageListener = (message: string) => void;

/** Who listens to which channel of a node. */
export class Subscribers {
  readonly #channels = new Map<string, Set<{ readonly listener: MessageListener }>>();

  add(channel: string, listener: MessageListener): () => void {
    // Wrapped, so that one listener subscribed twice hears twice, as with two connections.
    const subscription = { listener };
    const subscriptions = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, subscriptions.add(subscription));
    return () => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#channels.get(channel) === subscriptions) {
        this.#channels.delete(channel);
      }
    };
  }

  /** Delivers in a microtask, never inside the command that published; gives the number of receivers. */
  publish(channel: string, message: string): number {
    const subscriptions = this.#channels.get(channel);
    for (const subscription of subscriptions ?? []) {
      Promise.resolve().then(() => {
        if (subscriptions?.has(subscription)) subscription.listener(message);
      });
    }
    return subscriptions?.size ?? 0;
  }

  /** How many subscriptions there are, over all channels. */
  get size(): number {
    let size = 0;
    for (const subscriptions of this.#channels.values()) size += subscriptions.size;
    return size;
  }
}
