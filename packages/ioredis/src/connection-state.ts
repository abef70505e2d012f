import type { Driver } from "./client.ts";

/** What is known about a client's connection, beyond its present status. */
export interface ConnectionState {
  /** Resolves when the first attempt to connect is over, however it ended. */
  readonly firstAttempt: Promise<void>;
  /** Why the connection was lost or could not be made, until it is up again. */
  cause?: unknown;
}

// One per client, however many nodes are made of it: the listeners below are never removed.
const states = new WeakMap<object, ConnectionState>();

/** Starts to observe a client, or returns what is observed already. */
export function stateOf(client: Driver): ConnectionState {
  let state = states.get(client);
  if (!state) {
    const firstAttempt = new Promise<void>((resolve) => {
      // A status that no attempt under way is going to change: nothing to wait for.
      if (!/wait|^connect/.test(client.status)) resolve();
      for (const event of ["ready", "error", "close", "end"]) {
        client.on(event, (error) => {
          if (error || event === "ready") state!.cause = error;
          resolve();
        });
      }
    });
    state = { firstAttempt };
    states.set(client, state);
  }
  return state;
}

/**
 * Resolves when the client's first attempt to connect is over, which it starts if nobody did, or when the
 * signal aborts.
 */
export function firstAttemptOver(
  client: Driver,
  { firstAttempt }: ConnectionState,
  signal: AbortSignal,
): Promise<unknown> {
  // Its outcome arrives as an event as well.
  if (client.status === "wait") client.connect().catch(() => {});
  return new Promise<unknown>((resolve) => {
    signal.addEventListener("abort", resolve);
    firstAttempt.then(() => {
      signal.removeEventListener("abort", resolve);
      resolve(0);
    });
  });
}
