import type { Clock } from "./clock.ts";
import type { Events } from "./events.ts";
import type { RedisNode } from "./redis-node.ts";
import type { Round } from "./round.ts";
import { Suspicion } from "./suspicion.ts";
import { quorumOf } from "./tally.ts";
import type { Vote } from "./vote.ts";

/** What all rounds of one Redlock share: its nodes, how they are doing, and work that outlives an answer. */
export class Quorum {
  readonly nodes: readonly RedisNode[];
  readonly clock: Clock;
  readonly events: Events;
  /** Whether on a majority of the nodes commands arrive in the order in which they were sent. */
  readonly isOrdered: boolean;
  /** Which nodes an attempt leaves out unless they are needed. */
  readonly suspicion: Suspicion;
  /** Rounds that wait for votes. */
  readonly rounds: Set<Round> = new Set();
  /** No background work starts or waits any more. */
  closed = false;
  readonly #failing = new Set<string>();
  readonly #background = new Set<Promise<unknown>>();
  readonly #rests = new Set<() => void>();

  constructor(nodes: readonly RedisNode[], clock: Clock, events: Events) {
    this.nodes = nodes;
    this.clock = clock;
    this.events = events;
    this.suspicion = new Suspicion(clock);
    this.isOrdered = nodes.filter(({ ordered }) => ordered).length >= quorumOf(nodes.length);
  }

  /** Notes how a node is doing; tells of a change only, or a dead node would flood the listeners. */
  observe(vote: Vote): void {
    const { node } = vote;
    if (vote.outcome === "failed") {
      if (this.#failing.has(node)) return;
      this.#failing.add(node);
      this.events.emit("nodeFailed", { node, cause: vote.cause });
    } else if (this.#failing.delete(node)) {
      this.events.emit("nodeRecovered", { node });
    }
  }

  /** Keeps work that goes on after the caller got an answer: `close` and a serverless host wait for it. */
  background(work: Promise<unknown>, waitUntil?: (promise: Promise<unknown>) => void): void {
    this.#background.add(work);
    work.finally(() => this.#background.delete(work)).catch(() => {});
    try {
      Promise.resolve(waitUntil?.(work)).catch(() => {});
    } catch {
      // A host that refuses has no say in the lock.
    }
  }

  /** Waits in the background: ends early when the Redlock closes, keeps no process alive. */
  rest(ms: number): Promise<void> {
    if (this.closed) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#rests.delete(end);
        resolve();
      };
      const cancel = this.clock.after(ms, end, true);
      this.#rests.add(end);
    });
  }

  /** Ends background work: what waits to try again does not; what was asked is waited for (bounded). */
  async close(): Promise<void> {
    this.closed = true;
    for (const end of this.#rests) end();
    await Promise.allSettled([
      ...this.#background,
      ...Array.from(this.rounds, (round) => round.complete()),
    ]);
  }
}
