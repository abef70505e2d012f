import type { RedisNode } from "@redlatch/core";
import type { ServerOptions, ServerPool } from "@redlatch/testkit";

/** A driver's client, wrapped as a node by its adapter. */
export interface Connection {
  readonly node: RedisNode;
  /** From now on the client's sockets and timers keep no process alive. Call it once connected. */
  unref(): void;
  close(): void;
}

/**
 * What the rows of the must-hold table run on. Another adapter runs the same table with a harness of its
 * own.
 */
export interface Harness {
  /** Names the driver and the TTL in the tests' titles. */
  readonly title: string;
  /** The TTL in milliseconds of every row that does not need one of its own. */
  readonly ttlMs: number;
  /** The module that exports `connect`: tests that need a process of their own import it there. */
  readonly module: URL;
  startNodes(count: number, options?: ServerOptions): Promise<ServerPool>;
  /** Makes a client for one server, with the driver's default behaviour when a connection breaks. */
  connect(url: string, name: string): Connection;
}
