import { shown } from "./shown.ts";

/** One Redis command: its name and its arguments, all strings. A fresh array for every call. */
export type Command = [name: string, ...args: string[]];

/** What a driver is told beside the command. */
export interface SendOptions {
  /** The (first) key of the command, for drivers that route by key. */
  readonly key: string;
  /**
   * Aborts once the answer is of no more use. Optional to honour: the core has its own time limit.
   * A command that sets keys is aborted only when those keys would have expired.
   */
  readonly signal: AbortSignal;
}

/**
 * One independent Redis master (or one Redis Cluster, or one HTTP endpoint) that votes.
 *
 * An implementation sends a command at most once if it can, rejects at once while it is known to be
 * disconnected, and never answers from a replica. Everything else is the core's: time limits, errors,
 * EVALSHA falling back to EVAL, and replies that come as number, bigint, string or bytes. A promise that
 * never settles, a synchronous throw or a nonsense reply is a `failed` vote, nothing worse.
 */
export interface RedisNode {
  /** Appears in votes, events and errors; unique among the nodes of a Redlock; never a credential. */
  readonly name: string;
  /**
   * The driver's own advice for `nodeTimeoutMs`, in milliseconds (HTTP is slower than TCP). An explicit
   * `nodeTimeoutMs` wins.
   */
  readonly timeoutMs?: number | undefined;
  /** The driver's client, where there is one: two nodes over the same client are refused. */
  readonly client?: object | undefined;
  /**
   * Sends one command; resolves with Redis' reply, rejects with Redis' error. An error with the `code`
   * "NOT_SENT" says that the command never left and never will, so that nothing has to be undone for it.
   */
  send(command: Command, options: SendOptions): Promise<unknown>;
  /** Optional: calls `listener` for each message on `channel` until the returned function is called. */
  subscribe?(channel: string, listener: () => void): Promise<() => Promise<void>>;
}

/** What {@link defineNode} takes beside the name and the sending function. */
export interface NodeExtras extends Pick<RedisNode, "timeoutMs" | "client"> {
  readonly subscribe?: RedisNode["subscribe"] | undefined;
}

/**
 * Makes a node of any driver: one function that sends a command.
 *
 * @param name - Appears in votes, events and errors; unique among the nodes of a Redlock; no credentials.
 * @param send - Sends one command and resolves with Redis' reply, e.g. `(command) => driver.send(command)`.
 * @throws TypeError when `name` is empty or `send` is not a function.
 * @example
 * ```ts
 * import { defineNode, Redlock } from "@redlatch/core";
 *
 * declare const driver: { send(command: string[]): Promise<unknown> };
 * const redlock = new Redlock([defineNode("redis-a", (command) => driver.send(command))]);
 * ```
 */
export function defineNode(
  name: string,
  send: RedisNode["send"],
  extras: NodeExtras = {},
): RedisNode {
  if (typeof name !== "string" || !name) {
    throw new TypeError(`a node's name must be a non-empty string, got ${shown(name)}`);
  }
  if (typeof send !== "function") {
    throw new TypeError(`node ${name}: send must be a function, got ${typeof send}`);
  }
  const { subscribe, ...rest } = extras;
  return { ...rest, name, send, ...(subscribe && { subscribe }) };
}
