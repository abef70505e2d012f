import type { RedisNode } from "@redlatch/core";

/** What a case can do beyond sending commands; every part is optional. */
export interface ConformanceContext {
  /**
   * Makes the node's server answer nothing for so many milliseconds, while its connections stay open, and
   * resolves once it is silent. {@link silenceCases} need it; `CLIENT PAUSE` or SIGSTOP does it.
   */
  readonly silence?: ((ms: number) => Promise<unknown>) | undefined;
}

/** One thing that a node has to do, as data: for any test runner, or for none. */
export interface ConformanceCase {
  /** What the node does, e.g. "refuses an unknown script with NOSCRIPT". */
  readonly name: string;
  /** Rejects with an Error that names the fact, the value and the node. Leaves no key behind. */
  run(node: RedisNode, context?: ConformanceContext): Promise<void>;
}
