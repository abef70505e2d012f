import { CommandOptions } from "./cutoff.ts";
import { ask, failed, isUnsent } from "./node-command.ts";
import { nodeTimeoutOf, type Settings } from "./options.ts";
import type { Quorum } from "./quorum.ts";
import type { RedisNode, SendOptions } from "./redis-node.ts";
import { type Ask, Round } from "./round.ts";
import { ACQUIRE, EXTEND, LOOK, RELEASE } from "./scripts.ts";
import { needsMore } from "./tally.ts";
import type { Vote } from "./vote.ts";

/** What is known of one token on one node. */
interface Standing {
  /** Key-setting commands without a usable answer: each may have been executed, or may yet be. */
  unsure: number;
  /** Whether a grant was heard of since the last release that certainly came after it. */
  set: boolean;
  /** Whether releases are being repeated. */
  pursued: boolean;
  /** Whether it was never asked, as it is suspected: there is nothing to release. */
  leftOut: boolean;
}

/**
 * One token and the keys it signs, on all nodes: sets, extends, repairs and releases them, and sees to it
 * that no key stays behind, whatever comes late or never.
 */
export class Claim {
  readonly #keys: readonly string[];
  readonly #value: string;
  readonly #quorum: Quorum;
  readonly #settings: Settings;
  readonly #standings: readonly Standing[];
  /** Aborts when the keys that were set would be gone by themselves. */
  readonly #expired: CommandOptions;
  /** Extensions that some node has not answered: a release goes after them. */
  readonly #extensions = new Set<Round>();
  /** Released or undone: a key that appears from now on has to go again. */
  #over = false;
  /** By the monotonic clock: no key that we set lives longer. */
  #keysUntilMs = 0;
  /** Whether a release tells those who wait: not that of an attempt, or every failure would wake everyone. */
  #announces = false;
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
    this.#keys = resources.map((resource) => settings.keyPrefix + resource);
    this.#value = value;
    this.#expired = new CommandOptions(this.#keys[0] as string);
    const set = alreadySetMs > 0;
    this.#standings = quorum.nodes.map(() => ({ unsure: 0, set, pursued: false, leftOut: false }));
    this.#liveFor(alreadySetMs);
  }

  /**
   * Asks every node to set the keys. A node's command waits for that node's vote in `undo`, the undo of the
   * attempt before, which on a transport that reorders could otherwise come after it.
   */
  acquire(undo?: Round): Round {
    const { ttlMs } = this.#settings;
    const args = this.#args(ttlMs);
    const set = (index: number): Promise<Vote> => this.#set(index, ttlMs, args, undo);
    const suspects = this.#quorum.suspicion.of(this.#quorum.nodes);
    if (!suspects) return this.#round((_, index) => set(index));
    let decide: (isNeeded: boolean) => void = () => {};
    const isNeeded = new Promise<boolean>((resolve) => (decide = resolve));
    const round = this.#round(async (node, index) => {
      if (!suspects.has(node)) return set(index);
      const standing = this.#standings[index] as Standing;
      standing.leftOut = true;
      this.#probe(node);
      if (!(await isNeeded)) return failed(node.name, suspected());
      return this.#over ? this.#peek(node, args) : set(index);
    });
    round.until((tally) => needsMore(tally, suspects.size)).then(decide);
    return round;
  }

  /** Asks every node to raise the TTL of the keys; the round ends within `leftMs`. */
  extend(ttlMs: number, leftMs: number): Round {
    this.#liveFor(ttlMs);
    const args = this.#args(ttlMs);
    const round = this.#round(
      (node, _, options) => ask(node, EXTEND, args, this.#value, options),
      undefined,
      leftMs,
    );
    this.#extensions.add(round);
    round.complete().then(() => this.#extensions.delete(round));
    return round;
  }

  /** Sets the keys again on a node that lost them. The answer is no vote: a repair never counts. */
  repair(index: number, ttlMs: number): void {
    this.#set(index, ttlMs, this.#args(ttlMs));
  }

  /** Whether a release is sent at once, behind all that was sent before. */
  get isPrompt(): boolean {
    return this.#extensions.size === 0 && this.#quorum.isOrdered;
  }

  /** Asks every node who holds the keys. */
  look(): Round {
    const args = this.#args(0);
    return this.#round(async (node, _, options) => {
      const vote = await ask(node, LOOK, args, this.#value, options);
      if (vote.outcome === "granted") this.#liveFor(vote.remainingMs ?? 0);
      return vote;
    });
  }

  /**
   * Releases the keys on every node, whether or not it is thought to hold them. Where the outcome stays
   * unknown, tries again after 1, 2, 4 ... node time limits until the keys are gone by themselves.
   */
  release(standMs = 0, announces = false): Round {
    this.#over = true;
    this.#announces = announces;
    this.#standUntilMs = this.#nowMs() + standMs;
    const round = this.#round(
      (_, index, options) => this.#release(index, options),
      (_, index) => this.#pursue(index),
    );
    const { waitUntil } = this.#settings;
    if (waitUntil) this.#quorum.background(round.complete(), waitUntil);
    return round;
  }

  /** Too late to set keys: what the node knows still tells a held resource from an unreachable quorum. */
  #peek(node: RedisNode, args: readonly string[]): Promise<Vote> {
    return ask(node, LOOK, args, this.#value, this.#expired);
  }

  /** Asks a suspected node whether it is back: with no token, as it is nobody's vote. */
  async #probe(node: RedisNode): Promise<void> {
    if (!this.#quorum.suspicion.isProbeDue(node)) return;
    const options = new CommandOptions(this.#keys[0] as string);
    const vote = await ask(node, LOOK, [String(this.#keys.length), ...this.#keys, ""], "", options);
    if (vote.outcome === "failed") return;
    this.#quorum.suspicion.noteAnswer(node.name);
    this.#quorum.observe(vote);
  }

  async #set(index: number, ttlMs: number, args: readonly string[], undo?: Round): Promise<Vote> {
    const node = this.#quorum.nodes[index] as RedisNode;
    const standing = this.#standings[index] as Standing;
    if (undo) {
      const undone = await undo.voted(index);
      if (this.#over) return undone.outcome === "failed" ? undone : this.#peek(node, args);
    }
    standing.unsure++;
    standing.leftOut = false;
    this.#liveFor(ttlMs);
    const vote = await ask(node, ACQUIRE, args, this.#value, this.#expired);
    if (vote.outcome !== "failed" || isUnsent(vote.cause)) standing.unsure--;
    if (vote.outcome === "granted") {
      standing.set = true;
      if (this.#over) this.#releaseStraggler(index, ttlMs);
    }
    return vote;
  }

  /** A grant that was heard of after the end. The command may have been executed just now. */
  #releaseStraggler(index: number, ttlMs: number): void {
    this.#liveFor(ttlMs);
    this.#release(index).then(() => this.#pursue(index));
  }

  /** Options of its own unless a round has some: those of a key-setting command may have been aborted. */
  async #release(
    index: number,
    options: SendOptions = new CommandOptions(this.#keys[0] as string),
  ): Promise<Vote> {
    const node = this.#quorum.nodes[index] as RedisNode;
    const standing = this.#standings[index] as Standing;
    if (standing.leftOut) return failed(node.name, suspected());
    for (const extension of this.#extensions) await extension.voted(index);
    // Read now: what is answered after this release was sent may have been executed after it, too.
    const certain = standing.unsure === 0;
    const standMs = Math.max(0, this.#standUntilMs - this.#nowMs());
    const channels = this.#announces && standMs === 0 ? this.#keys : [];
    const args = [...this.#args(standMs), ...channels];
    const vote = await ask(node, RELEASE, args, this.#value, options);
    if (certain && vote.outcome !== "failed") standing.set = false;
    return vote;
  }

  /** Goes on releasing until it is certain that nothing is left, or nothing can be left. */
  #pursue(index: number): void {
    const { unsure, set, pursued } = this.#standings[index] as Standing;
    if (pursued || !(unsure || set)) return;
    this.#quorum.background(this.#releaseAgain(index), this.#settings.waitUntil);
  }

  async #releaseAgain(index: number): Promise<void> {
    const { nodes } = this.#quorum;
    const standing = this.#standings[index] as Standing;
    const limitMs = nodeTimeoutOf(nodes[index] as RedisNode, this.#settings);
    standing.pursued = true;
    for (let pauseMs = limitMs; standing.unsure || standing.set; pauseMs *= 2) {
      const leftMs = this.#keysUntilMs - this.#nowMs();
      await this.#quorum.rest(leftMs > 0 ? Math.min(pauseMs, leftMs) : limitMs);
      if (this.#quorum.closed) break;
      if (leftMs <= 0) {
        this.#expired.abort(new Error("the keys have expired"));
        break;
      }
      if (standing.unsure || standing.set) this.#release(index);
    }
    standing.pursued = false;
  }

  /** What every script is called with. */
  #args(ms: number): readonly string[] {
    return [String(this.#keys.length), ...this.#keys, this.#value, String(Math.ceil(ms))];
  }

  #round(send: Ask["send"], counted?: Ask["counted"], leftMs = Infinity): Round {
    return new Round(this.#quorum, {
      key: this.#keys[0] as string,
      send,
      counted,
      limitMs: (node) => Math.min(nodeTimeoutOf(node, this.#settings), leftMs),
    });
  }

  #liveFor(ttlMs: number): void {
    this.#keysUntilMs = Math.max(this.#keysUntilMs, this.#nowMs() + ttlMs);
  }

  #nowMs(): number {
    return this.#quorum.clock.monotonicMs();
  }
}

const suspected = (): Error => new Error("suspected: it let several time limits in a row pass");
