import { ask, failed } from "./node-command.ts";
import { nodeTimeoutOf, type Settings } from "./options.ts";
import type { Quorum } from "./quorum.ts";
import type { RedisNode } from "./redis-node.ts";
import { Round } from "./round.ts";
import { ACQUIRE, EXTEND, LOOK, RELEASE } from "./scripts.ts";
import type { Vote } from "./vote.ts";

/** What is known of one token on one node. */
interface Standing {
  /** Key-setting commands without a usable answer: each may have been executed, or may yet be. */
  unsure: number;
  /** Whether a grant was heard of since the last release that certainly came after it. */
  set: boolean;
  /** The extension still in flight, if any: a release goes after it. */
  extending: Promise<unknown> | undefined;
  /** Numbers the release loops, so that a newer one ends the older. */
  loop: number;
}

/**
 * One token and the keys it signs, on all nodes: sets, extends, repairs and releases them, and sees to it
 * that no key stays behind, whatever comes late or never.
 */
export class Claim {
  readonly keys: readonly string[];
  readonly value: string;
  readonly #quorum: Quorum;
  readonly #settings: Settings;
  readonly #standings: readonly Standing[];
  /** Aborts when the keys that were set would be gone by themselves. */
  readonly #expired = new AbortController();
  /** Released or undone: a key that appears from now on has to go again. */
  #over = false;
  /** By the monotonic clock: no key that we set lives longer. */
  #keysUntilMs = 0;
  /** By the monotonic clock: a release lets the keys stand until then (minHoldMs). */
  #standUntilMs = 0;

  constructor(
    quorum: Quorum,
    settings: Settings,
    resources: readonly string[],
    value: string,
    alreadySetMs = 0,
  ) {
    this.#quorum = quorum;
    this.#settings = settings;
    this.keys = resources.map((resource) => settings.keyPrefix + resource);
    this.value = value;
    const set = alreadySetMs > 0;
    this.#standings = quorum.nodes.map(() => ({ unsure: 0, set, extending: undefined, loop: 0 }));
    this.#liveFor(alreadySetMs);
  }

  /**
   * Asks every node to set the keys. A node's command waits for that node's vote in `undo`, the undo of the
   * attempt before, which on a transport that reorders could otherwise come after it.
   */
  acquire(undo?: Round): Round {
    return this.#round((_, index) => this.#set(index, this.#settings.ttlMs, undo?.voted(index)));
  }

  /** Asks every node to raise the TTL of the keys; the round ends within `leftMs`. */
  extend(ttlMs: number, leftMs: number, counted: (vote: Vote, index: number) => void): Round {
    this.#liveFor(ttlMs);
    const send = (node: RedisNode, index: number, signal: AbortSignal): Promise<Vote> => {
      const answer = ask(node, EXTEND, this, ttlMs, signal);
      (this.#standings[index] as Standing).extending = answer;
      return answer;
    };
    return this.#round(send, counted, leftMs);
  }

  /** Sets the keys again on a node that lost them. The answer is no vote: a repair never counts. */
  repair(index: number, ttlMs: number): void {
    this.#quorum.background(
      this.#limited(index, this.#set(index, ttlMs)),
      this.#settings.waitUntil,
    );
  }

  /** Asks every node who holds the keys. */
  look(): Round {
    return this.#round((node, _, signal) => ask(node, LOOK, this, 0, signal));
  }

  /**
   * Releases the keys on every node, whether or not it is thought to hold them. Where the outcome stays
   * unknown, tries again after 1, 2, 4 ... node time limits until the keys are gone by themselves.
   */
  release(standMs = 0): Round {
    this.#over = true;
    this.#standUntilMs = this.#nowMs() + standMs;
    const round = this.#round(
      (_, index) => this.#release(index),
      (_, index) => this.#pursue(index),
    );
    this.#quorum.background(round.complete(), this.#settings.waitUntil);
    return round;
  }

  async #set(index: number, ttlMs: number, before?: Promise<unknown>): Promise<Vote> {
    const node = this.#quorum.nodes[index] as RedisNode;
    const standing = this.#standings[index] as Standing;
    if (before) {
      await before;
      if (this.#over) return failed(node.name, new Error("not asked: the attempt had ended"));
    }
    standing.unsure++;
    this.#liveFor(ttlMs);
    const vote = await ask(node, ACQUIRE, this, ttlMs, this.#expired.signal);
    if (vote.outcome !== "failed") standing.unsure--;
    if (vote.outcome === "granted") {
      standing.set = true;
      // A straggler: its grant came after the end.
      if (this.#over) this.#release(index).then(() => this.#pursue(index));
    }
    return vote;
  }

  async #release(index: number): Promise<Vote> {
    const node = this.#quorum.nodes[index] as RedisNode;
    const standing = this.#standings[index] as Standing;
    if (standing.extending) await this.#limited(index, standing.extending);
    // Read now: what is answered after this release was sent may have been executed after it, too.
    const certain = standing.unsure === 0;
    const standMs = Math.max(0, this.#standUntilMs - this.#nowMs());
    const vote = await ask(node, RELEASE, this, standMs, this.#expired.signal);
    if (certain && vote.outcome !== "failed") standing.set = false;
    return vote;
  }

  /** Goes on releasing, if it is not certain that nothing is left. */
  #pursue(index: number): void {
    const { unsure, set } = this.#standings[index] as Standing;
    if (!unsure && !set) return;
    this.#quorum.background(this.#releaseAgain(index), this.#settings.waitUntil);
  }

  async #releaseAgain(index: number): Promise<void> {
    const standing = this.#standings[index] as Standing;
    const loop = ++standing.loop;
    for (let pauseMs = this.#limitMs(index); ; pauseMs *= 2) {
      const leftMs = this.#keysUntilMs - this.#nowMs();
      if (leftMs > 0) await this.#quorum.rest(Math.min(pauseMs, leftMs));
      if (this.#quorum.closed || loop !== standing.loop) return;
      if (!standing.unsure && !standing.set) return;
      await this.#limited(index, this.#release(index));
      if (leftMs <= 0) break;
    }
    this.#expired.abort();
  }

  #round(
    send: (node: RedisNode, index: number, signal: AbortSignal) => Promise<Vote>,
    counted?: (vote: Vote, index: number) => void,
    leftMs = Number.POSITIVE_INFINITY,
  ): Round {
    const limitMs = (node: RedisNode): number =>
      Math.min(nodeTimeoutOf(node, this.#settings), leftMs);
    return new Round(this.#quorum, { send, limitMs, ...(counted && { counted }) });
  }

  /** Resolves with the work or at the node's time limit. */
  #limited(index: number, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#quorum.clock.after(this.#limitMs(index), resolve, true);
      work.finally(() => {
        cancel();
        resolve();
      });
    });
  }

  #limitMs(index: number): number {
    return nodeTimeoutOf(this.#quorum.nodes[index] as RedisNode, this.#settings);
  }

  #liveFor(ttlMs: number): void {
    this.#keysUntilMs = Math.max(this.#keysUntilMs, this.#nowMs() + ttlMs);
  }

  #nowMs(): number {
    return this.#quorum.clock.monotonicMs();
  }
}
