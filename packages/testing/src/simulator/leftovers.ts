import type { Attempt, Attempts } from "./attempts.ts";
import type { Presence } from "./node-keys.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { World } from "./world.ts";

/** Judges whether keys stay behind that nobody holds any more. */
export class Leftovers {
  readonly #world: World;
  readonly #attempts: Attempts;
  readonly #limitMs: number;

  constructor(world: World, attempts: Attempts, limitMs: number) {
    this.#world = world;
    this.#attempts = attempts;
    this.#limitMs = limitMs;
  }

  /** A key has ended on a node, by whatever means. */
  ended(node: SimulatedNode, key: string, presence: Presence): void {
    const endedMs = Math.min(this.#world.nowMs, presence.goneAtMs);
    const attempt = this.#attempts.get(presence.token);
    if (!attempt || presence.unasked || this.#hasLateMessages(attempt, node)) return;
    const allowedMs = this.#allowedUntilMs(attempt, node, presence);
    if (allowedMs === undefined || endedMs <= allowedMs) return;
    this.#world.violate(
      "leftover",
      `${key} of ${presence.token} stays on ${node.id} until ${endedMs.toFixed(2)} ms, ${allowedMs.toFixed(2)} ms is the limit`,
    );
  }

  /** Looks at all keys that still stand, or were not looked at since they went. */
  sweep(nodes: readonly SimulatedNode[]): void {
    for (const node of nodes) {
      for (const [key, presence] of node.keys.all()) this.ended(node, key, presence);
    }
  }

  #hasLateMessages({ underWay }: Attempt, node: SimulatedNode): boolean {
    for (const [{ sentAtMs }, to] of underWay) {
      if (to === node && this.#world.nowMs > sentAtMs + this.#limitMs) return true;
    }
    return false;
  }

  /**
   * How long a key may stay: a release is sent at once, and where its outcome is unknown again after 1, 2,
   * 4 ... time limits, until the key is gone by itself. So it takes at most as long again as the trouble did.
   */
  #allowedUntilMs(attempt: Attempt, node: SimulatedNode, presence: Presence): number | undefined {
    const { overMs, owner } = attempt;
    if (overMs === undefined || owner.endedMs !== Infinity) return undefined;
    const troubleMs = attempt.troubles.get(node) ?? 0;
    const quietMs = Math.max(overMs, presence.sinceMs, troubleMs, owner.lastStillEndMs);
    const againMs = quietMs + (quietMs - overMs) * 1.05 + 4.5 * this.#limitMs + 5;
    const allowedMs = Math.max(againMs, attempt.standsUntilMs + 2);
    // Nobody looks for keys that would be gone by themselves if they had been set in time.
    const givenUpMs = (attempt.setSentMs + attempt.setTtlMs) * 0.98 - 5;
    return allowedMs < givenUpMs ? allowedMs : undefined;
  }
}
