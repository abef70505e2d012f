import type { RedisNode } from "@redlatch/core";

/** What a scenario may be told. */
export interface ScenarioContext {
  /**
   * The leases' TTL in milliseconds. Shorter is quicker, until a slow machine loses leases that it holds.
   *
   * @defaultValue 1_500
   */
  readonly ttlMs?: number | undefined;
  /**
   * How many times the scenario of many cycles acquires and releases.
   *
   * @defaultValue 2_000
   */
  readonly cycles?: number | undefined;
}

/** One thing that locks over a set of nodes have to do, as data. */
export interface LockScenario {
  /** What happens, e.g. "two clients exclude each other". */
  readonly name: string;
  /**
   * Rejects with an Error where it does not happen. Uses names of its own, so that scenarios may run side
   * by side, and leaves no key behind.
   *
   * @param nodes - Independent nodes; with three or more of them the loss of a minority is tried, too.
   */
  run(nodes: readonly RedisNode[], context?: ScenarioContext): Promise<void>;
}
