import type { Belief } from "./belief.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { World } from "./world.ts";

/** Counts the nodes behind a lease, as they are and as they would be had they lost nothing. */
export class Backing {
  readonly quorum: number;
  readonly #world: World;
  readonly #nodes: readonly SimulatedNode[];
  readonly #excusesLostData: boolean;

  constructor(
    world: World,
    nodes: readonly SimulatedNode[],
    quorum: number,
    excusesLostData: boolean,
  ) {
    this.#world = world;
    this.#nodes = nodes;
    this.quorum = quorum;
    this.#excusesLostData = excusesLostData;
  }

  /** How many nodes hold all keys of a lease, or would if they had lost nothing. */
  countAt({ keys, lease }: Belief, atMs: number): number {
    let count = 0;
    for (const node of this.#nodes) {
      const holds = this.#excusesLostData
        ? keys.every((key) => node.keys.shouldHold(key, lease.token, atMs))
        : stands(node, keys, lease.token, atMs);
      if (holds) count++;
    }
    return count;
  }

  /** Notes when fewer nodes than a quorum held the keys, lost data or not. */
  noteDip(belief: Belief): void {
    const { nowMs } = this.#world;
    const { keys, lease } = belief;
    let standing = 0;
    for (const node of this.#nodes) if (stands(node, keys, lease.token, nowMs)) standing++;
    if (standing >= this.quorum) return;
    // By themselves keys go at a moment of their own: it was when the quorum's last one did.
    const goneMs = this.#nodes
      .map((node) => goneAtMs(node, keys, lease.token))
      .sort((a, b) => b - a);
    const lastMs = goneMs[this.quorum - 1] as number;
    belief.lastDipMs = nowMs;
    belief.dipMs = lastMs === -Infinity ? nowMs : Math.min(nowMs, Math.max(belief.fromMs, lastMs));
  }

  /** Whether a lease was only won because nodes had lost the key of another. */
  isExcused(key: string, belief: Belief, other: Belief): boolean {
    if (!this.#excusesLostData) return false;
    const { nowMs } = this.#world;
    const { token } = belief.lease;
    let tainted = 0;
    for (const node of this.#nodes) {
      const presence = node.keys.find(key, nowMs);
      if (presence?.token === token && presence.tainted.includes(other.lease.token)) tainted++;
    }
    return tainted > 0 && this.countAt(belief, nowMs) - tainted < this.quorum;
  }
}

const stands = (
  node: SimulatedNode,
  keys: readonly string[],
  token: string,
  atMs: number,
): boolean => keys.every((key) => node.keys.find(key, atMs)?.token === token);

function goneAtMs(node: SimulatedNode, keys: readonly string[], token: string): number {
  const gone = keys.map((key) => {
    const presence = node.keys.last(key);
    return presence?.token === token ? presence.goneAtMs : -Infinity;
  });
  return Math.min(...gone);
}
