import type { Driver } from "./client.ts";

/** What is known about a client's connection, beyond its present status. */
export interface ConnectionState {
  /** Resolves when the first attempt to connect is over, however it ended. */
  readonly firstAttempt: Promise<void>;
  /** Ends the first attempt. */
  readonly over: () => void;
  /** What ends the first attempt at the latest; once for all commands that wait, or are refused later. */
  timer?: { unref?(): void };
  /** Why the connection was lost or could not be made, until it is up again. */
  cause?: Error | undefined;
}

/** A server that accepts a connection and never greets would keep commands waiting for ever. */
const FIRST_ATTEMPT_MS = 10_000;

// One per client, however many nodes are made of it: the listeners below are never removed.
const states = new WeakMap<object, ConnectionState>();

/** Starts to observe a client, or returns what is observed already. */
export function stateOf(client: Driver): ConnectionState {
  let state = states.get(client);
  if (!state) {
    let over!: () => void;
    const firstAttempt = new Promise<void>((resolve) => (over = resolve));
    state = { firstAttempt, over };
    states.set(client, state);
    // A status that no attempt under way is going to change: nothing to wait for.
    if (!/wait|^con/.test(client.status)) over();
    for (const event of ["ready", "error", "close", "end"]) {
      client.on(event, (error) => {
        // There ioredis tells what it had sent, passwords included.
        delete (error?.lastNodeError ?? error)?.command;
        if (error || event === "ready") state!.cause = error;
        over();
      });
    }
  }
  return state;
}

/** Resolves when the client's first attempt to connect is over, which it starts if nobody did. */
export function firstAttemptOver(client: Driver, state: ConnectionState): Promise<void> {
  // Its outcome arrives as an event as well.
  if (client.status === "wait") client.connect().catch(() => {});
  if (!state.timer) {
    state.timer = setTimeout(state.over, FIRST_ATTEMPT_MS) as { unref?(): void };
    // It must not keep a process alive; not every runtime's timer can be told so.
    state.timer.unref?.();
  }
  return state.firstAttempt;
}
