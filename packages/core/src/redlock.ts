import { acquire } from "./acquire.ts";
import type { Context } from "./context.ts";
import { RedlockClosedError, ResourceHeldError } from "./errors.ts";
import { Events, type RedlockEvents, type ReleaseOutcome } from "./events.ts";
import { forceRelease } from "./force-release.ts";
import { type Inspection, inspect } from "./inspect.ts";
import { Lease, type LeaseHandle } from "./lease.ts";
import { LocalQueue } from "./local-queue.ts";
import {
  type CallOptions,
  checkLike,
  type RedlockOptions,
  resolveOptions,
  type Settings,
  type UsingOptions,
} from "./options.ts";
import { Quorum } from "./quorum.ts";
import type { RedisNode } from "./redis-node.ts";
import { resourcesOf } from "./resources.ts";
import { checkHandle, restore } from "./restore.ts";
import type { ScopeEnd } from "./scope-end.ts";
import { shown } from "./shown.ts";
import { useLease, type Work } from "./use-lease.ts";

/** What `tryUsing` resolves with: what the work returned, or that it did not run. */
export type TryUsingResult<Value> =
  | { readonly ran: true; readonly value: Value }
  | {
      readonly ran: false;
      /** How long the holder's keys still live, in milliseconds, where known. */
      readonly remainingMs: number | undefined;
    };

/**
 * Locks over a quorum of independent Redis nodes: at most one holder per resource while clocks drift within
 * the assumed bound and nodes keep their data (the Redis documentation, "Distributed Locks with Redis").
 *
 * @example
 * ```ts
 * import { Redlock, type RedisNode } from "@redlatch/core";
 *
 * declare const nodes: RedisNode[];
 * const redlock = new Redlock(nodes, { ttlMs: 10_000 });
 * const total = await redlock.using("invoice:42", async (lease) => {
 *   const response = await fetch("https://example.com/price", { signal: lease.signal });
 *   lease.assertHeld();
 *   return response.json();
 * });
 * ```
 */
export class Redlock {
  readonly #settings: Settings;
  readonly #forUsing: Settings;
  readonly #context: Context;
  readonly #events = new Events();
  #closing: Promise<void> | undefined;

  /**
   * @param nodes - Independent masters, best an odd number of them; all clients must use the same ones.
   * @throws TypeError for no nodes, the same node, client or name twice, an unknown option or a value of
   * the wrong type.
   * @throws RangeError for an option out of its range.
   */
  constructor(nodes: readonly RedisNode[], options: RedlockOptions = {}) {
    checkNodes(nodes);
    this.#settings = resolveOptions(options);
    this.#forUsing = Object.freeze({ ...this.#settings, autoExtend: options.autoExtend ?? true });
    this.#context = {
      quorum: new Quorum([...nodes], this.#settings.clock, this.#events),
      queue: new LocalQueue(),
      waitings: new Set(),
      holds: new Set(),
      works: new Set(),
    };
  }

  /**
   * Waits up to `waitMs` for the resource (or for all of the resources at once) and resolves with the lease.
   *
   * @throws ResourceHeldError (RESOURCE_HELD) when somebody else held it all the time.
   * @throws QuorumUnreachableError (QUORUM_UNREACHABLE) when too few nodes answered, or too slowly.
   * @throws RedlockClosedError (CLOSED) after `close()`.
   * @throws the signal's own reason when the caller aborts.
   * @throws TypeError or RangeError for bad resources or options, before any I/O.
   */
  async acquire(resource: string | readonly string[], options?: CallOptions): Promise<Lease> {
    const settings = this.#settingsOf(options, this.#settings);
    return new Lease(await acquire(this.#open(), settings, resourcesOf(resource)));
  }

  /**
   * Makes one attempt: the lease, or null where somebody else holds the resource. Null without asking any
   * node where this very object holds it.
   *
   * @throws QuorumUnreachableError (QUORUM_UNREACHABLE) when too few nodes answered: nobody knows.
   * @throws RedlockClosedError (CLOSED) after `close()`.
   * @throws the signal's own reason when the caller aborts.
   * @throws TypeError or RangeError for bad resources or options, before any I/O.
   */
  async tryAcquire(
    resource: string | readonly string[],
    options?: CallOptions,
  ): Promise<Lease | null> {
    const settings = this.#settingsOf(options, this.#settings);
    const hold = await this.#tryHold(settings, resource);
    return hold instanceof ResourceHeldError ? null : new Lease(hold);
  }

  /**
   * Runs `work` under the lock: acquired first, extended automatically, released whatever happens. Resolves
   * with what the work returns, also where the lease was lost meanwhile (`onLost: "throw"` rejects instead).
   *
   * @throws what {@link Redlock.acquire} throws, and what the work throws.
   * @throws LeaseLostError (LEASE_LOST) with `onLost: "throw"`, when the lease was lost during the work.
   */
  using<Value>(resource: string | readonly string[], work: Work<Value>): Promise<Value>;
  using<Value>(
    resource: string | readonly string[],
    options: UsingOptions,
    work: Work<Value>,
  ): Promise<Value>;
  async using<Value>(
    resource: string | readonly string[],
    ...rest: [Work<Value>] | [UsingOptions, Work<Value>]
  ): Promise<Value> {
    const [options, work] = rest.length === 1 ? [undefined, rest[0]] : rest;
    const settings = this.#settingsOf(options, this.#forUsing);
    checkWork(work);
    const context = this.#open();
    const resources = resourcesOf(resource);
    return this.#tracked(async () => useLease(await acquire(context, settings, resources), work));
  }

  /**
   * Runs `work` under the lock if the resource is free, else skips it.
   *
   * @throws QuorumUnreachableError (QUORUM_UNREACHABLE) when too few nodes answered: nobody knows.
   * @throws what the work throws; LeaseLostError (LEASE_LOST) with `onLost: "throw"`.
   */
  async tryUsing<Value>(
    resource: string | readonly string[],
    work: Work<Value>,
    options?: UsingOptions,
  ): Promise<TryUsingResult<Value>> {
    const settings = this.#settingsOf(options, this.#forUsing);
    checkWork(work);
    return this.#tracked(async () => {
      const hold = await this.#tryHold(settings, resource);
      if (hold instanceof ResourceHeldError) return { ran: false, remainingMs: hold.remainingMs };
      return { ran: true, value: await useLease(hold, work) };
    });
  }

  /** Asks every node who holds the resource, and for how long. Changes nothing; never rejects for a dead node. */
  async inspect(resource: string): Promise<Inspection> {
    const [name] = resourcesOf([resource]) as [string];
    return inspect(this.#open(), this.#settings, name);
  }

  /**
   * Deletes the resource's key on all nodes, whoever holds it: an operator's tool. The holder learns of it
   * at its next extension, and until then two may believe they hold the lock. Resolves with what a majority
   * answered: `released`, `expired` (there was nothing) or `unreachable`.
   */
  async forceRelease(resource: string): Promise<ReleaseOutcome> {
    const [name] = resourcesOf([resource]) as [string];
    return forceRelease(this.#open(), this.#settings, name);
  }

  /**
   * Adopts a lease that another process handed over with `lease.handOver()`.
   *
   * @throws LeaseLostError (LEASE_LOST) when no quorum holds the handle's token any more.
   * @throws QuorumUnreachableError (QUORUM_UNREACHABLE) when too few nodes answered: the handle stays good.
   * @throws TypeError when `handle` is no handle.
   */
  async restore(handle: LeaseHandle, options?: CallOptions): Promise<Lease> {
    checkHandle(handle);
    checkLike("ttlMs", "ttlMs", handle.ttlMs);
    const settings = this.#settingsOf(
      { ...options, ttlMs: options?.ttlMs ?? handle.ttlMs },
      this.#settings,
    );
    return new Lease(await restore(this.#open(), settings, handle));
  }

  /** Calls `listener` at each event until the returned function is called. What a listener throws is ignored. */
  on<Name extends keyof RedlockEvents>(
    event: Name,
    listener: (event: RedlockEvents[Name]) => unknown,
  ): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Ends this Redlock: rejects those who wait, aborts every `lease.signal` with RedlockClosedError, waits
   * for the work of `using` up to `graceMs` and releases what has ended. Keys under work that still runs are
   * left to expire, never deleted. Does not close the nodes' connections. A second call waits for the first.
   *
   * @param options - `graceMs`: milliseconds, at least 0; 5_000 by default.
   */
  async close({ graceMs = 5_000 }: { readonly graceMs?: number } = {}): Promise<void> {
    checkLike("waitMs", "graceMs", graceMs);
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    const { quorum, waitings, holds, works } = this.#context;
    for (const waiting of waitings) waiting.stop(new RedlockClosedError());
    for (const hold of holds) hold.cutoff.abort(new RedlockClosedError(hold.grant.resources));
    await new Promise<void>((resolve) => {
      const cancel = quorum.clock.after(graceMs, resolve);
      Promise.allSettled(works).then(() => {
        cancel();
        resolve();
      });
    });
    const ended = quorum.close();
    for (const hold of holds) hold.stopExtending();
    await ended;
  }

  /** Work that `close` waits for: from its start, so that none slips in while closing. */
  #tracked<Value>(start: () => Promise<Value>): Promise<Value> {
    const { works } = this.#context;
    const running = start();
    works.add(running);
    running.finally(() => works.delete(running)).catch(() => {});
    return running;
  }

  /** One attempt; that somebody else holds the resource is an answer, not an error. */
  async #tryHold(settings: Settings, resource: string | readonly string[]) {
    const attempt = acquire(this.#open(), settings, resourcesOf(resource), true);
    return attempt.catch((error) => {
      if (error instanceof ResourceHeldError) return error;
      throw error;
    });
  }

  #open(): Context {
    if (this.#closing) throw new RedlockClosedError();
    return this.#context;
  }

  /** The settings of a call; those of a call without options are resolved once for each kind of call. */
  #settingsOf(options: UsingOptions | undefined, kind: Settings): Settings {
    return options === undefined ? kind : resolveOptions(options, kind);
  }
}

/** Closes at the end of an `await using` scope. */
export interface Redlock extends ScopeEnd {}

// Not a method of the class body: where the symbol is missing it would be named "undefined".
if (Symbol.asyncDispose) {
  Redlock.prototype[Symbol.asyncDispose] = function (this: Redlock): Promise<void> {
    return this.close();
  };
}

function checkNodes(nodes: readonly RedisNode[]): void {
  if (!Array.isArray(nodes) || nodes.length === 0) {
    throw new TypeError("nodes must be an array of at least one RedisNode");
  }
  const seen = new Set<unknown>();
  for (const node of nodes as readonly (RedisNode | undefined)[]) {
    if (typeof node?.name !== "string" || typeof node.send !== "function") {
      throw new TypeError(
        "a node must be a RedisNode: wrap the client with an adapter or defineNode(name, send)",
      );
    }
    const { name, timeoutMs } = node;
    if (timeoutMs !== undefined) checkLike("nodeTimeoutMs", `timeoutMs of ${name}`, timeoutMs);
    for (const [what, identity] of [
      ["node", node],
      ["client", node.client],
      ["name", node.name],
    ] as const) {
      if (identity !== undefined && seen.has(identity)) {
        throw new TypeError(
          `two nodes have the same ${what} (${node.name}): each node must be a Redis of its own`,
        );
      }
      seen.add(identity);
    }
  }
}

function checkWork(work: unknown): void {
  if (typeof work !== "function")
    throw new TypeError(`work must be a function, got ${shown(work)}`);
}
