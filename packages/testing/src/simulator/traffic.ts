import type { NodeReply } from "../memory-node.ts";
import type { Attempt, Attempts } from "./attempts.ts";
import type { Beliefs } from "./beliefs.ts";
import type { LeaseTerms } from "./lease-terms.ts";
import type { LinkWitness } from "./link.ts";
import type { LocalOrder } from "./local-order.ts";
import { type Message, msOf } from "./message.ts";
import type { Operations } from "./operations.ts";
import type { Process } from "./process.ts";
import type { Rounds } from "./rounds.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { World } from "./world.ts";

/** Whom traffic concerns. */
export interface TrafficParts {
  readonly world: World;
  readonly limitMs: number;
  readonly attempts: Attempts;
  readonly beliefs: Beliefs;
  readonly operations: Operations;
  readonly rounds: Rounds;
  readonly order: LocalOrder;
  readonly terms: LeaseTerms;
}

/** Notes for each attempt what its client has sent, and which answers it has got. */
export class Traffic implements LinkWitness {
  readonly #parts: TrafficParts;
  readonly #processes = new Map<string, Process>();

  constructor(parts: TrafficParts) {
    this.#parts = parts;
  }

  /** A process may send from now on. */
  expect(process: Process): void {
    this.#processes.set(process.id, process);
  }

  sent(message: Message, node: SimulatedNode): void {
    // Whether a suspected node is back.
    if (message.token === "") return;
    const { attempts, limitMs, order, rounds } = this.#parts;
    const process = this.#processes.get(message.from) as Process;
    const { attempt, isNew } = attempts.of(message, process, limitMs * 1.1 + 2);
    attempt.underWay.set(message, node);
    attempt.unanswered.set(message, node);
    if (message.kind === "extend") this.#sentExtension(message, attempt, process);
    if (message.kind === "release") this.#sentRelease(message, attempt, node);
    if (message.kind !== "acquire") return;
    this.#mayLive(message, attempt);
    attempt.extension?.bare.delete(node);
    attempt.asked.add(node);
    attempt.askedTtlMs ??= msOf(message);
    if (!isNew) return;
    order.competes(attempt, rounds.undecided);
    rounds.begin(attempt);
  }

  troubled(message: Message, node: SimulatedNode): void {
    const attempt = this.#parts.attempts.get(message.token);
    attempt?.troubles.set(node, this.#parts.world.nowMs);
    attempt?.underWay.delete(message);
  }

  answered(message: Message, node: SimulatedNode, reply: NodeReply): void {
    const { world, limitMs, attempts, rounds } = this.#parts;
    const attempt = attempts.get(message.token);
    if (!attempt) return;
    const isLate = world.nowMs > message.sentAtMs + limitMs;
    const isUnknown = reply instanceof Error && /NOSCRIPT/.test(reply.message);
    const isError = reply instanceof Error && !isUnknown;
    attempt.underWay.delete(message);
    if (isLate || isError) this.troubled(message, node);
    attempt.unanswered.delete(message);
    if (isUnknown) return;
    rounds.touch(attempt);
    switch (message.kind) {
      case "extend":
        if (!isError && reply !== 1) this.#noteLoss(message, attempt, node, reply);
        break;
      case "release":
        this.#noteRelease(message, attempt, node, reply);
        break;
      case "acquire":
      case "look":
        noteVote(attempt, node, reply);
        if (reply === 1 && isStraggler(message, attempt)) attempt.stragglers.add(node);
        break;
      default:
    }
  }

  #noteRelease(message: Message, attempt: Attempt, node: SimulatedNode, reply: NodeReply): void {
    const { world, limitMs } = this.#parts;
    const undo = attempt.undo.get(node);
    if (undo?.state === "open" && undo.messages.has(message)) {
      const isInTime = world.nowMs <= undo.sentMs + limitMs;
      undo.state = isInTime && !(reply instanceof Error) ? "answered" : "failed";
    }
    if (reply instanceof Error) return;
    (reply === 1 ? attempt.deletedBy : attempt.missingOn).add(node);
  }

  #sentExtension(message: Message, attempt: Attempt, process: Process): void {
    const { operations, terms } = this.#parts;
    this.#mayLive(message, attempt);
    terms.extends(attempt, message, operations.isOpen("extend", process, attempt.keys));
    // The text after an unknown script belongs to the same round.
    if (message.command[0] === "EVAL" || attempt.extension?.sentMs === message.sentAtMs) return;
    this.#expectRepaired(attempt, process);
    const { sentAtMs: sentMs } = message;
    const leftMs = this.#parts.beliefs.untilMs(process, attempt.token) - sentMs;
    const endsMs = sentMs + Math.min(this.#parts.limitMs, leftMs) * 0.98;
    attempt.extension = { sentMs, endsMs, denied: new Set(), bare: new Set(), isRenewed: false };
  }

  /** A node that said in a renewal's round that it has no keys gets them again when the round is complete. */
  #expectRepaired({ token, extension, askedTtlMs = 0 }: Attempt, process: Process): void {
    if (!extension?.isRenewed) return;
    const { world, limitMs } = this.#parts;
    const completeMs = Math.max(extension.sentMs + limitMs * 1.1 + 2, process.lastStillEndMs);
    if (world.nowMs <= completeMs || world.nowMs > extension.sentMs + askedTtlMs * 0.9) return;
    for (const node of extension.bare) {
      world.violate("renewal", `${process.id} does not give ${node.id} the keys of ${token} again`);
    }
  }

  #sentRelease(message: Message, attempt: Attempt, node: SimulatedNode): void {
    this.#parts.rounds.abandon(attempt);
    attempt.releasedBy = message.from;
    attempt.stragglers.delete(node);
    const undo = attempt.undo.get(node);
    if (!undo) {
      const { nowMs: sentMs } = this.#parts.world;
      attempt.undo.set(node, { messages: new Set([message]), sentMs, state: "open" });
    } else if (message.command[0] === "EVAL") undo.messages.add(message);
  }

  /** A node says in time that the keys are gone; of a script sent again the round's limit counts. */
  #noteLoss(message: Message, { extension }: Attempt, node: SimulatedNode, reply: NodeReply): void {
    if (!extension || message.sentAtMs < extension.sentMs) return;
    const { world, limitMs } = this.#parts;
    if (world.nowMs >= extension.sentMs + limitMs * 0.98) return;
    extension.denied.add(node);
    // Which round a script was sent again for cannot be told.
    const isOfThisRound = message.command[0] !== "EVAL" && world.nowMs < extension.endsMs;
    if (reply === 0 && isOfThisRound) extension.bare.add(node);
  }

  /** From now on keys may live for as long as this command asks for. */
  #mayLive(message: Message, attempt: Attempt): void {
    attempt.setSentMs = this.#parts.world.nowMs;
    attempt.setTtlMs = Math.max(attempt.setTtlMs, msOf(message));
  }
}

function noteVote(attempt: Attempt, node: SimulatedNode, reply: NodeReply): void {
  if (reply instanceof Error) {
    attempt.errors.add(node);
    return;
  }
  attempt.answered.add(node);
  if (reply === 1) attempt.granted.add(node);
  const [, ms, holder] = /^held (-?\d+) ([^:]*)/.exec(String(reply)) ?? [];
  if (holder === undefined) return;
  const left = attempt.denials.get(holder) ?? [];
  attempt.denials.set(holder, [...left, Number(ms)]);
}

/** Whether a grant comes after its client has released; not where a hand-over leaves that to another. */
const isStraggler = ({ kind, from }: Message, attempt: Attempt): boolean =>
  kind === "acquire" &&
  attempt.releasedBy === from &&
  !attempt.isHandedOver &&
  attempt.extension === undefined;
