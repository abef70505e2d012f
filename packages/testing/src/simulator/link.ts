import type { Command, RedisNode, SendOptions } from "@redlatch/core";
import type { NodeReply } from "../memory-node.ts";
import { Answer } from "./answer.ts";
import type { Disturbance, Fate, MessageKind } from "./fault.ts";
import { contentOf, type Message } from "./message.ts";
import type { Process } from "./process.ts";
import type { Chance } from "./random.ts";
import type { Scripts } from "./scripts.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { Wire } from "./wires.ts";
import type { World } from "./world.ts";

/** How a connection behaves while nothing is wrong. */
export interface LinkTraits {
  readonly leastDelayMs: number;
  /** On top of the least, a few times this at the most. */
  readonly typicalDelayMs: number;
  /** Messages arrive in the order in which they were sent, as on one TCP connection. */
  readonly ordered: boolean;
  /** A command is cancelled when its signal aborts. */
  readonly honoursAbort: boolean;
  /** How likely the driver rejects at some time where no answer comes, instead of never settling. */
  readonly rejects: number;
}

/** Hears of everything that goes wrong on the way, or comes late. */
export interface LinkWitness {
  sent(message: Message, node: SimulatedNode): void;
  /** The message's outcome was not known to its sender in time, at the latest now. */
  troubled(message: Message, node: SimulatedNode): void;
  answered(message: Message, node: SimulatedNode, reply: NodeReply): void;
}

/** What can be wrong with a link for a while. */
export interface Impairment extends Disturbance {
  readonly blocks?: "both" | "requests" | "replies";
}

/** What all links of a simulation share. */
export interface Wiring {
  readonly world: World;
  readonly witness: LinkWitness;
  readonly scripts: Scripts;
  /** When the last request that is under way will arrive. */
  lastArrivalMs: number;
}

/** One client's connection to one node: the RedisNode that the core gets. */
export class Link implements RedisNode {
  readonly name: string;
  readonly #wire: Wire;
  readonly #wiring: Wiring;
  readonly #process: Process;
  readonly #node: SimulatedNode;
  readonly #traits: LinkTraits;
  readonly #chance: Chance;
  readonly #sent: Record<MessageKind, number>;
  #lastArrivalMs = 0;
  #lastReplyMs = 0;

  constructor(
    wiring: Wiring,
    process: Process,
    node: SimulatedNode,
    wire: Wire,
    traits: LinkTraits,
    chance: Chance,
  ) {
    this.#wire = wire;
    this.name = node.id;
    this.#wiring = wiring;
    this.#process = process;
    this.#node = node;
    this.#traits = traits;
    this.#chance = chance;
    this.#sent = { acquire: 0, extend: 0, release: 0, look: 0, other: 0 };
  }

  send(command: Command, options: SendOptions): Promise<unknown> {
    this.#process.touch();
    return new Promise((resolve, reject) => {
      const { world } = this.#wiring;
      const kind = this.#wiring.scripts.kinds.get(command[1] as string) ?? "other";
      const fate = this.#fateOf(kind);
      const answer = new Answer(resolve, reject);
      if (this.#traits.honoursAbort) answer.endWith(options.signal);
      const message = this.#message(command, kind, fate, answer);
      this.#wiring.witness.sent(message, this.#node);
      if (fate.loseRequest) return this.#lose(message, "request", answer);
      const arrivesMs = this.#arrival(world.nowMs + this.#delayMs() + (fate.delayRequestMs ?? 0));
      world.at(arrivesMs, () => this.#node.receive(message));
      if (fate.duplicateAfterMs !== undefined) {
        const duplicate = { ...message, unasked: true, executed: nothing, refused: nothing };
        world.at(arrivesMs + fate.duplicateAfterMs, () => this.#node.receive(duplicate));
      }
      const lastMs = arrivesMs + (fate.duplicateAfterMs ?? 0);
      this.#wiring.lastArrivalMs = Math.max(this.#wiring.lastArrivalMs, lastMs);
    });
  }

  #message(command: Command, kind: MessageKind, fate: Fate, answer: Answer): Message {
    const { world, witness } = this.#wiring;
    const message: Message = {
      kind,
      command,
      ...contentOf(command),
      from: this.#process.id,
      sentAtMs: world.nowMs,
      unasked: false,
      executed: (reply) => {
        if (fate.loseReply || this.#blocks("replies")) return this.#lose(message, "reply", answer);
        world.at(this.#replyAt(fate.delayReplyMs ?? 0), () => this.#settle(message, answer, reply));
      },
      refused: (error) => {
        witness.troubled(message, this.#node);
        world.at(world.nowMs + this.#delayMs(), () => this.#settle(message, answer, error));
      },
    };
    return message;
  }

  /** The driver may find out that no answer comes, or not. */
  #lose(message: Message, what: string, answer: Answer): void {
    const { world, witness } = this.#wiring;
    world.log("net", `loses the ${what}`, message.kind, message.token, this.name);
    witness.troubled(message, this.#node);
    if (!this.#chance.odds(this.#traits.rejects)) return;
    const error = new Error(`read ECONNRESET ${this.name}`);
    world.at(world.nowMs + this.#chance.between(1, 100), () =>
      this.#settle(message, answer, error),
    );
  }

  #settle(message: Message, answer: Answer, reply: NodeReply): void {
    this.#process.deliver(() => {
      if (!answer.isOpen) return;
      this.#wiring.witness.answered(message, this.#node, reply);
      answer.settle(reply);
    });
  }

  /** Draws what happens to the next message. */
  #fateOf(kind: MessageKind): Fate {
    const fate = this.#wire.fates.get(`${kind} ${++this.#sent[kind]}`);
    if (fate || this.#wire.impairments.size === 0) return fate ?? UNDISTURBED;
    const drawn: { -readonly [Name in keyof Fate]: Fate[Name] } = {};
    for (const impairment of this.#wire.impairments) {
      const { loseRequest = 0, loseReply = 0, duplicate = 0, late = 0, lateMs = 0 } = impairment;
      const blocked = impairment.blocks === "both" || impairment.blocks === "requests";
      if (blocked || this.#chance.odds(loseRequest)) drawn.loseRequest = true;
      if (this.#chance.odds(loseReply)) drawn.loseReply = true;
      if (this.#chance.odds(duplicate)) drawn.duplicateAfterMs = this.#chance.uniform() * lateMs;
      if (this.#chance.odds(late / 2)) drawn.delayRequestMs = this.#chance.uniform() * lateMs;
      if (this.#chance.odds(late / 2)) drawn.delayReplyMs = this.#chance.uniform() * lateMs;
    }
    return drawn;
  }

  #blocks(way: "replies"): boolean {
    for (const { blocks } of this.#wire.impairments)
      if (blocks === "both" || blocks === way) return true;
    return false;
  }

  #delayMs(): number {
    const { leastDelayMs, typicalDelayMs } = this.#traits;
    const uniform = this.#chance.uniform();
    // Mostly near the least, with a tail.
    return leastDelayMs + typicalDelayMs * uniform * uniform * 3;
  }

  #arrival(atMs: number): number {
    if (!this.#traits.ordered) return atMs;
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, atMs);
    return this.#lastArrivalMs;
  }

  #replyAt(delayMs: number): number {
    const atMs = this.#wiring.world.nowMs + this.#delayMs() + delayMs;
    if (!this.#traits.ordered) return atMs;
    this.#lastReplyMs = Math.max(this.#lastReplyMs, atMs);
    return this.#lastReplyMs;
  }
}

const UNDISTURBED: Fate = {};

const nothing = (): void => {};
