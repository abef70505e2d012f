import type { Lease, Redlock, RedlockEvents, ReleaseOutcome } from "@redlatch/core";
import type { NodeReply } from "../memory-node.ts";
import { Agreement } from "./agreement.ts";
import { type Attempt, Attempts } from "./attempts.ts";
import { type Belief, Beliefs } from "./beliefs.ts";
import { LeaseTerms, type Terms } from "./lease-terms.ts";
import { Leftovers } from "./leftovers.ts";
import type { LinkWitness } from "./link.ts";
import { LocalOrder } from "./local-order.ts";
import type { Message } from "./message.ts";
import { type Operation, Operations } from "./operations.ts";
import type { Process } from "./process.ts";
import type { ClientSettings } from "./settings.ts";
import type { NodeWitness, SimulatedNode } from "./simulated-node.ts";
import { WaitingTimes } from "./waiting-times.ts";
import type { World } from "./world.ts";

/** Sees everything, and says which promises of the library were broken. */
export class Judge implements NodeWitness, LinkWitness {
  readonly beliefs: Beliefs;
  readonly attempts: Attempts = new Attempts();
  readonly operations: Operations;
  readonly leftovers: Leftovers;
  acquisitions = 0;
  /** All leases: one that is garbage-collected tells the core, at a moment that no seed knows. */
  readonly #leases: Lease[] = [];
  readonly #world: World;
  readonly #settings: ClientSettings;
  readonly #order: LocalOrder;
  readonly #terms: LeaseTerms;
  readonly #waits: WaitingTimes;
  readonly #agreement: Agreement;
  readonly #processes = new Map<string, Process>();
  readonly #undecided = new Set<Attempt>();
  /** To be looked at when the turn is over. */
  readonly #touched = new Set<Attempt>();
  /** More nodes than this that say no make a quorum impossible. */
  readonly #tooMany: number;
  readonly #quorum: number;

  constructor(
    world: World,
    nodes: readonly SimulatedNode[],
    settings: ClientSettings,
    excusesLostData: boolean,
    count: number,
  ) {
    const quorum = Math.floor(count / 2) + 1;
    this.#world = world;
    this.#settings = settings;
    this.beliefs = new Beliefs(world, nodes, quorum, settings.nodeTimeoutMs, excusesLostData);
    this.operations = new Operations(world);
    this.leftovers = new Leftovers(world, this.attempts, settings.nodeTimeoutMs);
    this.#terms = new LeaseTerms(world, settings);
    this.#order = new LocalOrder(world, this.beliefs, this.operations, settings);
    this.#waits = new WaitingTimes(world, this.operations, quorum, settings);
    this.#agreement = new Agreement(world, count, quorum, settings.nodeTimeoutMs);
    this.#tooMany = count - quorum;
    this.#quorum = quorum;
  }

  /** Listens to a process' Redlock and watches its turns. */
  watch(process: Process, redlock: Redlock): void {
    this.#processes.set(process.id, process);
    process.onTurnEnd = () => this.turnEnded(process);
    redlock.on("attempt", (event) => this.#attempted(process, event));
    redlock.on("waiting", (event) => {
      this.#waits.waits(process, event, this.keysOf(event.resources));
    });
    redlock.on("acquired", ({ resources }) => this.#agreement.told("acquired", resources));
    redlock.on("extended", ({ resources }) => {
      this.beliefs.renewed(process, resources, this.attempts);
    });
    redlock.on("released", ({ resources, outcome }) => {
      this.#agreement.told(outcome, resources);
    });
    redlock.on("lost", (event) => this.#lost(process, event));
  }

  keysOf(resources: readonly string[]): readonly string[] {
    return resources.map((resource) => this.#settings.keyPrefix + resource);
  }

  /** A call ended with a lease. */
  won(operation: Operation, lease: Lease, terms?: Terms): Belief {
    const { process } = operation;
    this.#leases.push(lease);
    this.operations.settle(operation);
    const attempt = this.attempts.get(lease.token);
    if (attempt) {
      attempt.isLease = true;
      attempt.overMs = undefined;
      attempt.owner = process;
      attempt.terms = terms;
    }
    if (operation.kind !== "restore") this.acquisitions++;
    this.#agreement.gave("acquired", lease.resources);
    this.#world.log(process.id, "holds", lease.token, lease.resources.join("+"));
    const belief = this.beliefs.adopt(process, lease, this.keysOf(lease.resources));
    this.#order.won(operation, belief);
    if (belief.isOver)
      this.#world.violate("validity", `${process.id} got ${lease.token}, which is not held`);
    return belief;
  }

  /**
   * Lets go of the leases when all is over. The core holds on to a lease's state until the lease is collected,
   * and that state leads back here: nothing of the simulation would ever be freed.
   */
  forget(): void {
    this.#leases.length = 0;
    this.beliefs.forgetAll();
  }

  /** A call ended without a lease. */
  gaveUp(operation: Operation, error: unknown): void {
    this.operations.settle(operation);
    this.#order.gaveUp(operation);
    if (operation.kind !== "restore") this.#agreement.failed(operation, error);
    const why = error === null ? "null" : String((error as { code?: unknown }).code ?? error);
    this.#world.log(operation.process.id, `${operation.kind} gives`, why, operation.keys.join("+"));
  }

  extended(operation: Operation, belief: Belief): void {
    const { lease } = belief;
    this.beliefs.renew(belief, this.attempts.get(lease.token));
    this.operations.settle(operation);
    this.#world.log(operation.process.id, "has extended", lease.token);
  }

  /** The holder ends its lease by its own will: no key is to be left from now on. */
  gives(process: Process, lease: Lease): void {
    const attempt = this.attempts.get(lease.token);
    if (attempt) attempt.isHeldAtRelease = isHeld(process, lease);
    this.#over(process, lease);
    this.#world.log(process.id, "releases", lease.token);
  }

  released(operation: Operation, lease: Lease, outcome: ReleaseOutcome, again: boolean): void {
    this.operations.settle(operation);
    if (!again) {
      this.#agreement.gave(outcome, lease.resources);
      this.#agreement.released(operation.process, this.attempts.get(lease.token), outcome);
    }
    this.#world.log(operation.process.id, "hears", outcome, lease.token);
  }

  /** The lease is on its way to another client: nobody clears up for it until it arrives. */
  handedOver(process: Process, lease: Lease): void {
    const attempt = this.attempts.get(lease.token);
    if (attempt) {
      attempt.overMs = undefined;
      attempt.isHandedOver = true;
    }
    this.beliefs.reconsider(process);
    this.#world.log(process.id, "hands over", lease.token);
  }

  turnEnded(process: Process): void {
    this.beliefs.reconsider(process);
    for (const attempt of this.#touched) this.#lookAgain(process, attempt);
    this.#touched.clear();
    this.#order.turnEnded(process);
    this.#agreement.turnEnded(process);
  }

  ended(process: Process): void {
    this.beliefs.forget(process);
    this.operations.forget(process);
    for (const attempt of this.#undecided) {
      if (attempt.process === process) this.#undecided.delete(attempt);
    }
  }

  beforeChange(keys: readonly string[]): void {
    this.beliefs.check(keys);
  }

  executed(node: SimulatedNode, message: Message, reply: NodeReply): void {
    const { nowMs } = this.#world;
    const { kind, token, keys } = message;
    this.attempts.get(token)?.underWay.delete(message);
    const isLate = nowMs > message.sentAtMs + this.#settings.nodeTimeoutMs;
    if (isLate || message.unasked) this.troubled(message, node);
    if (kind === "extend" && reply === 1) this.beliefs.confirm(node, token, keys);
    if (kind === "release") this.#notesStanding(message);
    if (kind === "release" && reply === 1 && message.command.at(-1) === "0") {
      const attempt = this.attempts.get(token);
      if (attempt) this.#terms.deleted(attempt);
    }
    this.#world.log(node.id, message.unasked ? `${kind} again` : kind, token, shown(reply));
    // After a release that let the keys stand (minHoldMs) a late extension finds them.
    const { overMs = Infinity, extension } = this.attempts.get(token) ?? {};
    // The text of a script is sent later, but in the same round and within the same limit.
    const isResent = message.command[0] === "EVAL";
    const roundMs = Math.min(message.sentAtMs, isResent ? (extension?.sentMs ?? 0) : Infinity);
    const limitMs = roundMs + this.#settings.nodeTimeoutMs;
    const unasked = message.unasked || (kind === "extend" && nowMs > overMs && nowMs > limitMs);
    const cause = { sentAtMs: message.sentAtMs, unasked };
    for (const key of keys) {
      const ended = node.keys.look(key, nowMs, cause);
      if (ended) this.leftovers.ended(node, key, ended);
    }
    const isDenied = kind === "acquire" && reply !== 1 && !(reply instanceof Error);
    if (isDenied && keys.every((key) => node.keys.find(key, nowMs)?.token === token)) {
      this.#world.violate("agreement", `${node.id} denies ${token} its own keys`);
    }
    this.beliefs.check(keys);
  }

  suffered(node: SimulatedNode): void {
    for (const [key] of node.keys.all()) this.beliefs.check([key]);
  }

  sent(message: Message, node: SimulatedNode): void {
    const process = this.#processes.get(message.from) as Process;
    const limitMs = this.#settings.nodeTimeoutMs * 1.1 + 2;
    const { attempt, isNew } = this.attempts.of(message, process, limitMs);
    attempt.underWay.set(message, node);
    attempt.unanswered.set(message, node);
    if (message.kind === "acquire") {
      attempt.asked.add(node);
      attempt.askedTtlMs ??= Number(message.command.at(-1));
    }
    if (message.kind === "acquire" || message.kind === "extend") {
      attempt.setSentMs = this.#world.nowMs;
      const ttlMs = Number(message.command[message.command.length - 1]);
      attempt.setTtlMs = Math.max(attempt.setTtlMs, ttlMs);
    }
    if (message.kind === "extend") {
      const asked = this.operations.isOpen("extend", process, attempt.keys);
      this.#terms.extends(attempt, message, asked);
    }
    if (message.kind === "extend" && message.command[0] !== "EVAL") {
      if (attempt.extension?.sentMs !== message.sentAtMs) {
        attempt.extension = { sentMs: message.sentAtMs, denied: new Set() };
      }
    }
    if (message.kind === "release") {
      this.#undecided.delete(attempt);
      attempt.releasedBy = message.from;
      attempt.stragglers.delete(node);
      if (!attempt.undo.has(node)) attempt.undo.set(node, this.#world.nowMs);
    }
    if (!isNew || message.kind !== "acquire") return;
    this.#order.competes(attempt, this.#undecided);
    this.#undecided.add(attempt);
  }

  troubled(message: Message, node: SimulatedNode): void {
    const attempt = this.attempts.get(message.token);
    attempt?.troubles.set(node, this.#world.nowMs);
    attempt?.underWay.delete(message);
  }

  answered(message: Message, node: SimulatedNode, reply: NodeReply): void {
    const attempt = this.attempts.get(message.token);
    if (!attempt) return;
    const isLate = this.#world.nowMs > message.sentAtMs + this.#settings.nodeTimeoutMs;
    const isError = reply instanceof Error && !/NOSCRIPT/.test(reply.message);
    if (isLate || isError) this.troubled(message, node);
    attempt.unanswered.delete(message);
    if (isError && (message.kind === "acquire" || message.kind === "look")) {
      attempt.errors.add(node);
      this.#touched.add(attempt);
    }
    if (message.kind === "release" && !/NOSCRIPT/.test(String(reply))) {
      attempt.undo.set(node, -Infinity);
      if (isError) attempt.undoErrors.add(node);
    }
    if (reply instanceof Error) return;
    if (message.kind === "extend" && reply !== 1 && !isLate) {
      attempt.extension?.denied.add(node);
      this.#touched.add(attempt);
    }
    if (message.kind === "release") {
      (reply === 1 ? attempt.deletedBy : attempt.missingOn).add(node);
    }
    if (message.kind !== "acquire" && message.kind !== "look") return;
    attempt.answered.add(node);
    if (reply === 1) attempt.granted.add(node);
    this.#touched.add(attempt);
    if (
      message.kind === "acquire" &&
      reply === 1 &&
      attempt.releasedBy === message.from &&
      !attempt.isHandedOver &&
      !attempt.extension
    ) {
      attempt.stragglers.add(node);
      this.#touched.add(attempt);
    }
    const [, ms, holder] = /^held (-?\d+) ([^:]*)/.exec(String(reply)) ?? [];
    if (holder === undefined) return;
    const left = attempt.denials.get(holder) ?? [];
    attempt.denials.set(holder, [...left, Number(ms)]);
  }

  /** What the answers of a turn oblige its client to do in the same turn. */
  #lookAgain(process: Process, attempt: Attempt): void {
    const { token, stragglers, extension, granted, answered, errors } = attempt;
    const against = answered.size - granted.size + errors.size;
    const isDecided = granted.size >= this.#quorum || against > this.#tooMany;
    if (isDecided && this.#undecided.has(attempt)) {
      const message = `${process.id} does not decide ${token}: ${granted.size} for, ${against} against`;
      this.#world.violate("decision", message);
    }
    for (const node of attempt.verdict === "lost" ? attempt.asked : []) {
      if (attempt.undo.has(node)) continue;
      this.#world.violate("leftover", `${process.id} does not undo ${token} on ${node.id}`);
    }
    for (const node of stragglers) {
      const message = `${process.id} does not release ${token} on ${node.id}, which granted after the end`;
      this.#world.violate("leftover", message);
    }
    stragglers.clear();
    if (extension && extension.denied.size > this.#tooMany) this.beliefs.expectLost(process, token);
  }

  /** A release with minHoldMs left shortens the key's life instead of ending it. */
  #notesStanding({ command, token }: Message): void {
    const ms = Number(command[command.length - 1]);
    const attempt = this.attempts.get(token);
    if (!attempt || !(ms > 0)) return;
    attempt.standsUntilMs = Math.max(attempt.standsUntilMs, this.#world.nowMs + ms * 1.1 + 2);
  }

  #attempted(process: Process, event: RedlockEvents["attempt"]): void {
    const keys = this.keysOf(event.resources).join();
    const candidates = [...this.#undecided].filter(
      (each) => each.process === process && each.keys.join() === keys,
    );
    const hasWon = event.verdict === "won";
    const fits = (each: Attempt): boolean => each.granted.size >= this.#quorum === hasWon;
    const attempt = candidates.find(fits) ?? candidates[0];
    // Of several that may have lost, only the undo tells which one it was.
    if (!attempt || (candidates.length > 1 && !hasWon)) return;
    this.#undecided.delete(attempt);
    if (candidates.length > 1) return;
    attempt.roundMs = event.elapsedMs;
    attempt.verdict = event.verdict;
    this.#touched.add(attempt);
  }

  #lost(process: Process, event: RedlockEvents["lost"]): void {
    this.#agreement.lost(process, event);
    for (const belief of this.beliefs.of(process)) {
      const { lease } = belief;
      if (lease.resources.join() !== event.resources.join()) continue;
      // Where nodes lost data a process may have another lease on them, which is still held.
      if (isHeldByState(process, lease)) continue;
      this.#over(process, lease);
      if (!lease.signal.aborted) {
        this.#world.violate("loss", `the signal of ${lease.token} does not tell of its loss`);
      }
      this.#terms.ranOut(process, lease, belief, this.attempts.get(lease.token));
    }
    this.#world.log(process.id, "has lost", event.resources.join("+"));
  }

  #over(process: Process, lease: Lease): void {
    const attempt = this.attempts.get(lease.token);
    if (attempt && attempt.owner === process) attempt.overMs ??= this.#world.nowMs;
  }
}

/** Whether a lease has not been released, lost or handed over, whatever the time is. */
const isHeldByState = (process: Process, lease: Lease): boolean =>
  process.clock.probe(0, -Infinity, () => lease.remainingMs()) > 0;

/** Whether a lease is held now; asking changes nothing. */
function isHeld(process: Process, lease: Lease): boolean {
  const { clock } = process;
  const monotonicMs = clock.probe(0, -Infinity, () => lease.remainingMs());
  const wallMs = monotonicMs > 0 ? clock.probe(-Infinity, 0, () => lease.remainingMs()) : 0;
  return monotonicMs > clock.monotonicNowMs() && wallMs > clock.wallNowMs();
}

function shown(reply: NodeReply): string {
  return reply instanceof Error ? reply.message.slice(0, 40) : String(reply);
}
