import type { Attempts } from "./attempts.ts";
import { type Belief, nameOf } from "./belief.ts";
import type { Beliefs } from "./beliefs.ts";
import type { Process } from "./process.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { World } from "./world.ts";

/** Judges whether a lease was renewed by nodes that had kept its keys. */
export class Renewals {
  readonly #world: World;
  readonly #beliefs: Beliefs;
  readonly #attempts: Attempts;
  readonly #quorum: number;
  readonly #limitMs: number;

  constructor(world: World, beliefs: Beliefs, attempts: Attempts, quorum: number, limitMs: number) {
    this.#world = world;
    this.#beliefs = beliefs;
    this.#attempts = attempts;
    this.#quorum = quorum;
    this.#limitMs = limitMs;
  }

  /** A node confirmed an extension. */
  confirm(node: SimulatedNode, token: string, keys: readonly string[]): void {
    const { nowMs } = this.#world;
    for (const belief of this.#beliefs.on(keys[0] as string)) {
      if (belief.lease.token !== token) continue;
      const sent = belief.keys.map((key) => node.keys.find(key, nowMs)?.sentAtMs ?? Infinity);
      belief.confirmed.set(node, { atMs: nowMs, sentAtMs: Math.max(...sent) });
    }
  }

  /** An event says that a lease on these resources was renewed: which one, is for the simulator to find out. */
  told(process: Process, resources: readonly string[]): void {
    const { nowMs } = this.#world;
    const name = resources.join();
    const held = [...this.#beliefs.of(process)].filter(
      ({ lease, untilMs }) => lease.resources.join() === name && untilMs > nowMs,
    );
    if (held.length === 0) {
      const message = `${process.id} says that it extended ${name}, which it does not hold`;
      this.#world.violate("deadline", message);
    }
    // Where nodes lost data a process may believe in two of them.
    const [belief, ...others] = held.filter(
      (each) => this.#sentMs(each, -Infinity) >= each.renewedMs,
    );
    if (belief && others.length === 0) this.renewed(belief);
  }

  /**
   * A lease was renewed: by nodes that have held the keys since a quorum of them did, or were sent them again
   * after the renewal before.
   */
  renewed(belief: Belief): void {
    const { nowMs } = this.#world;
    // Told by an event and by a result.
    if (belief.renewedMs === nowMs) return;
    const { dipMs, confirmed, process } = belief;
    const sinceMs = Math.max(dipMs ?? Infinity, belief.repairedUntilMs);
    const unbroken = [...confirmed.values()].filter(
      ({ atMs, sentAtMs }) => dipMs === undefined || atMs < dipMs || sentAtMs <= sinceMs,
    );
    if (unbroken.length < this.#quorum) {
      const since = dipMs === undefined ? "" : `, a quorum had lost the keys at ${shown(dipMs)}`;
      const message = `renewed by ${unbroken.length} of ${this.#quorum} nodes${since}`;
      this.#world.violate("renewal", `${nameOf(belief)} ${message}`);
    }
    const extension = this.#attempts.get(belief.lease.token)?.extension;
    // The next round may have been sent before the caller of this one hears of its outcome.
    if (extension && extension.sentMs < nowMs) extension.isRenewed = true;
    const roundMs = Math.max(extension?.sentMs ?? nowMs, process.lastStillEndMs);
    belief.renewedMs = nowMs;
    belief.repairedUntilMs = roundMs + this.#limitMs * 1.1 + 2;
    belief.dipMs = undefined;
    confirmed.clear();
    this.#beliefs.refresh(belief);
  }

  /** When the last round of extension was sent. */
  #sentMs({ lease }: Belief, otherwiseMs: number): number {
    return this.#attempts.get(lease.token)?.extension?.sentMs ?? otherwiseMs;
  }
}

const shown = (ms: number): string => `${ms.toFixed(2)} ms`;
