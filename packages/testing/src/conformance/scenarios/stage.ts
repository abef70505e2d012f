import { type Lease, type RedisNode, Redlock, type RedlockOptions } from "@redlatch/core";
import { replyOf } from "../exchange.ts";
import { expectSoon } from "../expectation.ts";
import { uniqueName } from "../names.ts";
import type { LockScenario, ScenarioContext } from "../scenario.ts";

/** What a scenario plays on: clients over the same nodes, each with a Redlock of its own. */
export class Stage {
  readonly nodes: readonly RedisNode[];
  readonly ttlMs: number;
  readonly cycles: number;
  /** A resource that nobody else uses. */
  readonly resource: string = uniqueName();
  readonly #redlocks: Redlock[] = [];

  constructor(nodes: readonly RedisNode[], { ttlMs = 1_500, cycles = 2_000 }: ScenarioContext) {
    this.nodes = nodes;
    this.ttlMs = ttlMs;
    this.cycles = cycles;
  }

  /** How many nodes may fail. */
  get minority(): number {
    return Math.ceil(this.nodes.length / 2) - 1;
  }

  /** What another process would have: locks that know nothing of each other's. */
  client(options?: RedlockOptions, nodes: readonly RedisNode[] = this.nodes): Redlock {
    const { ttlMs } = this;
    const redlock = new Redlock(nodes, {
      ttlMs,
      waitMs: 4 * ttlMs,
      retryDelayMs: 30,
      // Longer than the default: much here is one round, which a busy machine must not fail.
      nodeTimeoutMs: ttlMs / 4,
      ...options,
    });
    this.#redlocks.push(redlock);
    return redlock;
  }

  /** Two that know nothing of each other. */
  pair(): [Redlock, Redlock] {
    return [this.client(), this.client()];
  }

  /** Deletes the lock's key on so many nodes, as a crash without persistence does. */
  async loseKeys(count: number): Promise<void> {
    const key = `lock:${this.resource}`;
    await Promise.all(this.nodes.slice(0, count).map((node) => replyOf(node, ["DEL", key])));
  }

  /** Waits until no node has the keys, for less than they need to expire by themselves. */
  async expectNothingLeft(...resources: string[]): Promise<void> {
    const keys = [this.resource, ...resources].map((resource) => `lock:${resource}`);
    for (const node of this.nodes) {
      for (const key of keys) {
        const left = async () => (await replyOf(node, ["EXISTS", key])) !== "0";
        await expectSoon(
          `${node.name}: ${key} is gone`,
          this.ttlMs / 2,
          async () => !(await left()),
        );
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#redlocks.map((redlock) => redlock.close({ graceMs: 0 })));
  }
}

/** Makes a scenario of a play: whatever happens in it, its clients are closed. */
export const scenario = (name: string, play: (stage: Stage) => Promise<void>): LockScenario => ({
  name,
  async run(nodes, context = {}) {
    const stage = new Stage(nodes, context);
    try {
      await play(stage);
    } finally {
      await stage.close();
    }
  },
});

/** Throws unless there is a lease and it is held. */
export function expectHeld(what: string, lease: Lease | null): Lease {
  if (lease?.isHeld()) return lease;
  throw new Error(`${what} gave ${lease ? "a lease that is not held" : "no lease"}`);
}

/** Runs what must be refused, and gives the code of the error (or whatever it is). */
export async function codeOf(attempt: Promise<unknown>): Promise<unknown> {
  const outcome = await attempt.then(
    (value) => ({ code: `no error, but ${typeof value}` }),
    (error: unknown) => error as { readonly code?: unknown } | undefined,
  );
  return outcome?.code ?? outcome;
}
