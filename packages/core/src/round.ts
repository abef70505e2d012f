import { CommandOptions } from "./cutoff.ts";
import { failed } from "./node-command.ts";
import type { Quorum } from "./quorum.ts";
import type { RedisNode, SendOptions } from "./redis-node.ts";
import { completeOf, type Tally } from "./tally.ts";
import type { Vote } from "./vote.ts";

/** How a round asks its nodes. */
export interface Ask {
  /** Asks one node. Must not reject; may never settle. */
  send(node: RedisNode, index: number, options: SendOptions): Promise<Vote>;
  /** The first key, for drivers that route by key. */
  readonly key: string;
  /** How long a node may take, in milliseconds. The limit ends the vote, not the command. */
  limitMs(node: RedisNode): number;
  /** Called once per node with its vote, when the vote is counted. */
  readonly counted?: ((vote: Vote, index: number) => void) | undefined;
}

/** One command sent to all nodes at once and the votes that come back. */
export class Round {
  readonly #tally: { -readonly [Count in keyof Tally]: Tally[Count] };
  readonly #votes: (Vote | undefined)[];
  readonly #undecided = new Set<() => boolean>();
  readonly #quorum: Quorum;
  readonly #counted: Ask["counted"];
  readonly #limits = new Map<number, () => void>();
  readonly #options: CommandOptions;

  constructor(quorum: Quorum, how: Ask) {
    const { nodes } = quorum;
    this.#quorum = quorum;
    quorum.rounds.add(this);
    this.#counted = how.counted;
    this.#options = new CommandOptions(how.key);
    this.#tally = { nodes: nodes.length, granted: 0, denied: 0, failed: 0 };
    this.#votes = nodes.map(() => undefined);
    nodes.forEach((node, index) => {
      how.send(node, index, this.#options).then((vote) => this.#count(vote, index));
    });
    this.#startLimits(nodes.map((node) => how.limitMs(node)));
  }

  /** How many nodes were asked. */
  get nodes(): number {
    return this.#tally.nodes;
  }

  /** The votes so far; a straggler's own answer replaces the `failed` vote that it got at its limit. */
  get votes(): readonly Vote[] {
    return this.#votes.filter((vote) => vote !== undefined);
  }

  /** Resolves as soon as `decide` gives a value for the votes so far. It must give one for a full tally. */
  until<Value>(decide: (tally: Tally) => Value | undefined): Promise<Value> {
    return new Promise((resolve) => {
      const look = (): boolean => {
        const value = decide(this.#tally);
        if (value === undefined) return false;
        resolve(value);
        return true;
      };
      if (!look()) this.#undecided.add(look);
    });
  }

  /** Resolves when this node has voted, at its limit at the latest. */
  voted(index: number): Promise<Vote> {
    return this.until(() => this.#votes[index]);
  }

  /** Resolves when every node has voted, at its limit at the latest. */
  complete(): Promise<true> {
    return this.until(completeOf);
  }

  /** One timer for each distinct limit: in the usual case one for the round. */
  #startLimits(limitsMs: readonly number[]): void {
    for (const limitMs of new Set(limitsMs)) {
      const expire = (): void => {
        this.#quorum.nodes.forEach(({ name }, index) => {
          if (this.#votes[index] || (limitsMs[index] as number) > limitMs) return;
          this.#quorum.suspicion.noteSilence(name);
          this.#count(failed(name, new Error(`no answer within ${Math.ceil(limitMs)} ms`)), index);
        });
        // Nobody listens any more: a driver that can cancel may do so.
        if (completeOf(this.#tally)) this.#options.abort(new Error("the answer is of no more use"));
      };
      this.#limits.set(limitMs, this.#quorum.clock.after(limitMs, expire));
    }
  }

  #count(vote: Vote, index: number): void {
    const first = this.#votes[index] === undefined;
    this.#votes[index] = vote;
    if (vote.outcome !== "failed") this.#quorum.suspicion.noteAnswer(vote.node);
    if (!first) return;
    this.#quorum.observe(vote);
    this.#tally[vote.outcome]++;
    this.#counted?.(vote, index);
    for (const look of this.#undecided) if (look()) this.#undecided.delete(look);
    // All votes are in: no timer stays behind.
    if (!completeOf(this.#tally)) return;
    for (const cancel of this.#limits.values()) cancel();
    this.#quorum.rounds.delete(this);
  }
}
