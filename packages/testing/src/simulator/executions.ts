import type { NodeReply } from "../memory-node.ts";
import type { Attempts } from "./attempts.ts";
import type { Beliefs } from "./beliefs.ts";
import type { LeaseTerms } from "./lease-terms.ts";
import type { Leftovers } from "./leftovers.ts";
import { type Message, msOf } from "./message.ts";
import type { Cause } from "./node-keys.ts";
import type { Renewals } from "./renewals.ts";
import type { NodeWitness, SimulatedNode } from "./simulated-node.ts";
import type { Traffic } from "./traffic.ts";
import type { World } from "./world.ts";

/** Whom executions concern. */
export interface ExecutionParts {
  readonly world: World;
  readonly limitMs: number;
  readonly attempts: Attempts;
  readonly beliefs: Beliefs;
  readonly renewals: Renewals;
  readonly leftovers: Leftovers;
  readonly terms: LeaseTerms;
  readonly traffic: Traffic;
}

/** Sees what nodes execute, and how their keys change by it. */
export class Executions implements NodeWitness {
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  beforeChange(keys: readonly string[]): void {
    this.#parts.beliefs.check(keys);
  }

  executed(node: SimulatedNode, message: Message, reply: NodeReply): void {
    const { world, limitMs, attempts, beliefs, renewals, traffic } = this.#parts;
    const { kind, token, keys } = message;
    // An unknown script is sent again once its sender has heard of it, which may take its time.
    if (!isUnknownScript(reply)) attempts.get(token)?.underWay.delete(message);
    const isLate = world.nowMs > message.sentAtMs + limitMs;
    if (isLate || message.unasked) traffic.troubled(message, node);
    if (kind === "extend" && reply === 1) renewals.confirm(node, token, keys);
    if (kind === "release") this.#released(message, reply);
    world.log(node.id, message.unasked ? `${kind} again` : kind, token, shown(reply));
    const cause = this.#causeOf(message);
    for (const key of keys) this.#look(node, key, message, cause);
    if (kind === "acquire" && isDenial(reply)) this.#denied(node, message);
    beliefs.check(keys);
  }

  suffered(node: SimulatedNode): void {
    for (const [key] of node.keys.all()) this.#parts.beliefs.check([key]);
  }

  #look(node: SimulatedNode, key: string, { kind, token }: Message, cause: Cause): void {
    const { world, leftovers } = this.#parts;
    const before = node.keys.find(key, world.nowMs);
    const wasUntilMs = before?.expiresAtMs;
    const ended = node.keys.look(key, world.nowMs, cause);
    if (ended) leftovers.ended(node, key, ended);
    const isRepeat = kind === "acquire" && before?.token === token;
    if (!isRepeat || before.expiresAtMs === wasUntilMs) return;
    const message = `${node.id} gives ${key} another end for a repeated command of ${token}`;
    world.violate("agreement", message);
  }

  /** Whether its client can know how long the keys stay that a command sets or extends. */
  #causeOf({ kind, token, sentAtMs, unasked, command }: Message): Cause {
    const { world, limitMs, attempts } = this.#parts;
    // After a release that let the keys stand (minHoldMs) a late extension finds them.
    const { overMs = Infinity, extension } = attempts.get(token) ?? {};
    // The text of a script is sent later, but in the same round and within the same limit.
    const isResent = command[0] === "EVAL";
    const roundMs = Math.min(sentAtMs, isResent ? (extension?.sentMs ?? 0) : Infinity);
    const isLate = world.nowMs > overMs && world.nowMs > roundMs + limitMs;
    return { sentAtMs, unasked: unasked || (kind === "extend" && isLate) };
  }

  #released(message: Message, reply: NodeReply): void {
    const { world, attempts, terms } = this.#parts;
    const attempt = attempts.get(message.token);
    if (!attempt) return;
    const ms = msOf(message);
    // With minHoldMs left it shortens the keys' life instead of ending it.
    if (ms > 0) attempt.standsUntilMs = Math.max(attempt.standsUntilMs, world.nowMs + ms * 1.1 + 2);
    else if (reply === 1) terms.deleted(attempt);
  }

  #denied(node: SimulatedNode, { keys, token }: Message): void {
    const { world } = this.#parts;
    if (!keys.every((key) => node.keys.find(key, world.nowMs)?.token === token)) return;
    world.violate("agreement", `${node.id} denies ${token} its own keys`);
  }
}

const isUnknownScript = (reply: NodeReply): boolean =>
  reply instanceof Error && /NOSCRIPT/.test(reply.message);

const isDenial = (reply: NodeReply): boolean => reply !== 1 && !(reply instanceof Error);

const shown = (reply: NodeReply): string =>
  reply instanceof Error ? reply.message.slice(0, 40) : String(reply);
