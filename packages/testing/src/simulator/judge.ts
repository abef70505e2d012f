import {
  isRedlockError,
  type Lease,
  type Redlock,
  type RedlockEvents,
  type ReleaseOutcome,
} from "@redlatch/core";
import { Agreement } from "./agreement.ts";
import { Attempts } from "./attempts.ts";
import { Backing } from "./backing.ts";
import type { Belief } from "./belief.ts";
import { Beliefs } from "./beliefs.ts";
import { Executions } from "./executions.ts";
import { LeaseTerms, type Terms } from "./lease-terms.ts";
import { Leftovers } from "./leftovers.ts";
import { LocalOrder } from "./local-order.ts";
import { NodeHealth } from "./node-health.ts";
import { type Operation, Operations } from "./operations.ts";
import type { Process } from "./process.ts";
import { Renewals } from "./renewals.ts";
import { Rounds } from "./rounds.ts";
import type { ClientSettings } from "./settings.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import { Traffic } from "./traffic.ts";
import type { Traits } from "./traits.ts";
import { WaitingTimes } from "./waiting-times.ts";
import type { World } from "./world.ts";

/** Follows what clients do and are told, and says which promises of the library were broken. */
export class Judge {
  readonly beliefs: Beliefs;
  readonly attempts: Attempts = new Attempts();
  readonly operations: Operations;
  readonly leftovers: Leftovers;
  /** Watches the network. */
  readonly traffic: Traffic;
  /** Watches the nodes. */
  readonly executions: Executions;
  acquisitions = 0;
  /** All leases: one that is garbage-collected tells the core, at a moment that no seed knows. */
  readonly #leases: Lease[] = [];
  readonly #world: World;
  readonly #settings: ClientSettings;
  readonly #order: LocalOrder;
  readonly #terms: LeaseTerms;
  readonly #waits: WaitingTimes;
  readonly #agreement: Agreement;
  readonly #rounds: Rounds;
  readonly #renewals: Renewals;

  constructor(
    world: World,
    nodes: readonly SimulatedNode[],
    { settings, nodes: count, tells }: Traits,
    excusesLostData: boolean,
  ) {
    const { attempts } = this;
    const quorum = Math.floor(count / 2) + 1;
    const { nodeTimeoutMs: limitMs } = settings;
    const backing = new Backing(world, nodes, quorum, excusesLostData);
    const beliefs = new Beliefs(world, backing);
    const renewals = new Renewals(world, beliefs, attempts, quorum, limitMs);
    const operations = new Operations(world);
    const leftovers = new Leftovers(world, attempts, limitMs);
    const rounds = new Rounds(world, beliefs, count, quorum, limitMs);
    const order = new LocalOrder(world, beliefs, operations, settings, tells);
    const terms = new LeaseTerms(world, settings);
    const shared = { world, limitMs, attempts, beliefs, terms };
    const traffic = new Traffic({ ...shared, operations, rounds, order });
    this.executions = new Executions({ ...shared, beliefs, renewals, leftovers, traffic });
    this.traffic = traffic;
    this.beliefs = beliefs;
    this.operations = operations;
    this.leftovers = leftovers;
    this.#world = world;
    this.#settings = settings;
    this.#rounds = rounds;
    this.#renewals = renewals;
    this.#order = order;
    this.#terms = terms;
    this.#waits = new WaitingTimes(world, operations, quorum, settings, tells);
    this.#agreement = new Agreement(world, count, quorum, limitMs);
  }

  /** Listens to a process' Redlock and watches its turns. */
  watch(process: Process, redlock: Redlock): void {
    this.traffic.expect(process);
    process.onTurnEnd = () => this.turnEnded(process);
    redlock.on("attempt", (event) => {
      this.#rounds.decided(process, event, this.keysOf(event.resources));
    });
    redlock.on("waiting", (event) => {
      this.#waits.waits(process, event, this.keysOf(event.resources));
    });
    redlock.on("acquired", ({ resources }) => this.#agreement.told("acquired", resources));
    redlock.on("extended", ({ resources }) => {
      this.#renewals.told(process, resources);
    });
    redlock.on("released", ({ resources, outcome }) => {
      this.#agreement.told(outcome, resources);
    });
    redlock.on("lost", (event) => this.#lost(process, event));
    const health = new NodeHealth(this.#world, process);
    redlock.on("attempt", ({ votes }) => health.voted(votes));
    redlock.on("nodeFailed", ({ node }) => health.failed(node));
    redlock.on("nodeRecovered", ({ node }) => health.recovered(node));
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
    this.#renewals.renewed(belief);
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
      if (attempt.extension) attempt.extension.isRenewed = false;
    }
    this.beliefs.reconsider(process);
    this.#world.log(process.id, "hands over", lease.token);
  }

  turnEnded(process: Process): void {
    this.beliefs.reconsider(process);
    for (const { lease } of this.beliefs.takeEnded()) {
      const isLost = isRedlockError(lease.signal.reason, "LEASE_LOST");
      if (isLost) this.#agreement.gave("lost", lease.resources);
    }
    this.#rounds.turnEnded(process);
    this.#order.turnEnded(process);
    this.#agreement.turnEnded(process);
  }

  ended(process: Process): void {
    this.beliefs.forget(process);
    this.operations.forget(process);
    this.#rounds.forget(process);
  }

  #lost(process: Process, event: RedlockEvents["lost"]): void {
    this.#agreement.told("lost", event.resources);
    this.#agreement.lost(process, event);
    for (const belief of this.beliefs.of(process)) {
      const { lease } = belief;
      if (lease.resources.join() !== event.resources.join()) continue;
      // Where nodes lost data a process may have another lease on them, which is still held.
      if (isHeldByState(process, lease)) continue;
      this.#over(process, lease);
      this.beliefs.toldOfLoss(belief);
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
