import type { Judge } from "./judge.ts";
import type { Wiring } from "./link.ts";
import type { Population } from "./population.ts";
import type { SimulatedClient } from "./simulated-client.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { Traits } from "./traits.ts";
import type { World } from "./world.ts";

/** What is looked at in the end. */
export interface EndingParts {
  readonly world: World;
  readonly judge: Judge;
  readonly nodes: readonly SimulatedNode[];
  readonly population: Population;
  readonly wiring: Wiring;
  readonly traits: Traits;
}

/** Judges what is true once faults have ended and clients are done. */
export class Ending {
  readonly #parts: EndingParts;

  constructor(parts: EndingParts) {
    this.#parts = parts;
  }

  /** Progress: a new client gets every lock as soon as the keys left behind expire. Begins to ask for them. */
  async probe(): Promise<void> {
    const { world, population, traits } = this.#parts;
    const client = population.create(traits.clients);
    const waitMs = this.#boundMs();
    world.at(world.nowMs, () =>
      client.process.deliver(() => population.occupy(client, this.#takeAll(client, waitMs))),
    );
    await world.run(() => population.busy > 0);
  }

  /** Once all is done nothing may be left: no keys, no timers, no listeners. */
  async quiesce(): Promise<void> {
    const { world, judge, nodes, traits } = this.#parts;
    const goneMs = Math.max(...nodes.map((node) => lastGoneMs(node, world.nowMs)));
    // Subscriptions outlive their last listener by a second.
    const lingerMs = traits.tells ? 1_100 : 0;
    const endMs = Math.max(world.nowMs, goneMs) + traits.settings.ttlMs * 2.5 + 10 + lingerMs;
    world.at(endMs, () => {});
    await world.run(() => world.nowMs >= endMs);
    judge.leftovers.sweep(nodes);
    for (const node of nodes) {
      const left = Object.keys(node.memory.dump());
      if (left.length > 0) world.violate("leftover", `${node.id} keeps ${left.join()}`);
    }
    this.#expectNothing("after all work");
  }

  /** All clients close, and all promises settle. */
  async close(): Promise<void> {
    const { world, judge, population } = this.#parts;
    for (const client of population.everybody) {
      if (client.isClosed || client.process.state === "ended") continue;
      world.at(world.nowMs, () =>
        client.process.deliver(() => population.occupy(client, client.close(0))),
      );
    }
    await world.run(() => false);
    const { operations } = judge;
    operations.expectProgress();
    if (operations.open > 0) world.violate("bound", `${operations.open} promises never settle`);
    this.#expectNothing("after close");
  }

  /** How long a new client may have to wait for a lock. */
  #boundMs(): number {
    const { world, nodes, wiring, traits } = this.#parts;
    const { ttlMs, retryDelayMs, nodeTimeoutMs } = traits.settings;
    const { nowMs } = world;
    const keysGoneMs = Math.max(
      nowMs,
      ...nodes.map((node) => lastGoneMs(node, nowMs)),
      // What is still under way may set keys once more.
      wiring.lastArrivalMs > nowMs ? wiring.lastArrivalMs + ttlMs * 3 : 0,
    );
    const roundMs = Math.max(retryDelayMs, 2 * nodeTimeoutMs);
    return (keysGoneMs - nowMs) * 1.1 + roundMs * 10 * 2 + nodeTimeoutMs + 50;
  }

  async #takeAll(client: SimulatedClient, waitMs: number): Promise<void> {
    for (const resource of this.#parts.traits.resources) {
      try {
        const holding = await client.acquire(resource, { waitMs });
        await holding.release();
      } catch (error) {
        const message = `a new client does not get ${resource} within ${waitMs.toFixed(2)} ms`;
        client.violate("progress", `${message}: ${String(error)}`);
      }
    }
  }

  #expectNothing(when: string): void {
    const { world, population } = this.#parts;
    for (const { id, process, listeners } of population.everybody) {
      if (process.state === "ended") continue;
      const { timers } = process.clock;
      if (timers > 0) world.violate("leftover", `${id} has ${timers} timers ${when}`);
      if (listeners > 0) world.violate("leftover", `${id} has ${listeners} listeners ${when}`);
    }
  }
}

function lastGoneMs(node: SimulatedNode, nowMs: number): number {
  return node.keys.standing(nowMs).reduce((last, [, { goneAtMs }]) => Math.max(last, goneAtMs), 0);
}
