import type { Clock } from "./clock.ts";
import type { RedisNode } from "./redis-node.ts";

/** One silence may be a pause of the node, or of this process. */
const SUSPICIOUS_SILENCES = 3;

/** A suspected node is asked at most so often whether it is back, in milliseconds. */
const PROBE_EVERY_MS = 250;

/** Which nodes are taken to hang, as they let several time limits in a row pass without any answer. */
export class Suspicion {
  readonly #clock: Clock;
  readonly #silences = new Map<string, number>();
  readonly #probedMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A node has let a time limit pass. */
  noteSilence(node: string): void {
    this.#silences.set(node, (this.#silences.get(node) ?? 0) + 1);
  }

  /** A node has answered, in time or not. */
  noteAnswer(node: string): void {
    if (this.#silences.size > 0) this.#silences.delete(node);
  }

  /** Those of the nodes that are suspected; undefined where none is, which is the usual case. */
  of(nodes: readonly RedisNode[]): ReadonlySet<RedisNode> | undefined {
    if (this.#silences.size === 0) return undefined;
    const suspects = nodes.filter(
      ({ name }) => (this.#silences.get(name) ?? 0) >= SUSPICIOUS_SILENCES,
    );
    return suspects.length > 0 ? new Set(suspects) : undefined;
  }

  /** Whether it is time to ask a suspected node once more. If so, the caller does. */
  isProbeDue({ name }: RedisNode): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (this.#probedMs.get(name) ?? -Infinity) < PROBE_EVERY_MS) return false;
    this.#probedMs.set(name, nowMs);
    return true;
  }
}
