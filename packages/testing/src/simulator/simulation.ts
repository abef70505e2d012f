import type { LeaseHandle, RedlockOptions } from "@redlatch/core";
import type { Drain } from "./drain.ts";
import type { Fault } from "./fault.ts";
import { schedule, type Victims } from "./faults.ts";
import { Judge } from "./judge.ts";
import { Link, type Wiring } from "./link.ts";
import { endOf } from "./plan.ts";
import { Process } from "./process.ts";
import { Chance } from "./random.ts";
import type { RedlockClass, Scripts } from "./scripts.ts";
import { SimulatedClient } from "./simulated-client.ts";
import { SimulatedNode } from "./simulated-node.ts";
import { clockTraitsOf, nodeRateOf, type Traits } from "./traits.ts";
import { Wires } from "./wires.ts";
import { adopt, type Section, type Surroundings, work } from "./workload.ts";
import { World } from "./world.ts";

/** Everything that a simulation is made of. */
export interface SimulationParts {
  readonly seed: number;
  readonly Class: RedlockClass;
  readonly scripts: Scripts;
  readonly traits: Traits;
  readonly plan: readonly Fault[];
  readonly acquisitions: number;
  readonly options: Omit<RedlockOptions, "clock" | "random" | "signal">;
  readonly section: Section | undefined;
  readonly program: ((client: SimulatedClient) => Promise<void>) | undefined;
  readonly excusesLostData: boolean;
  readonly drain: Drain;
}

/** So long a client may take to get its work done once nothing is wrong any more. */
const PATIENCE_MS = 60_000;

/** One course of events. */
export class Simulation implements Victims, Surroundings {
  readonly world: World;
  readonly judge: Judge;
  readonly nodes: SimulatedNode[] = [];
  readonly wires: Wires;
  readonly #parts: SimulationParts;
  readonly #wiring: Wiring;
  /** Who runs in each place. */
  readonly #clients: (SimulatedClient | undefined)[] = [];
  readonly #processes = new Map<number, number>();
  /** All that ever ran. */
  readonly #everybody: SimulatedClient[] = [];
  readonly #tasks = new Map<SimulatedClient, number>();
  #stopping = false;
  /** Processes that are to be started, and handles on their way. */
  #coming = 0;

  constructor(parts: SimulationParts) {
    const { seed, traits } = parts;
    this.#parts = parts;
    this.world = new World(parts.drain);
    const { settings } = traits;
    this.judge = new Judge(this.world, this.nodes, settings, parts.excusesLostData, traits.nodes);
    // One more place: for the client that comes at the end.
    this.wires = new Wires(traits.clients + 1, traits.nodes);
    this.#wiring = {
      world: this.world,
      witness: this.judge,
      scripts: parts.scripts,
      lastArrivalMs: 0,
    };
    for (let index = 0; index < traits.nodes; index++) {
      const id = `n${index + 1}`;
      const chance = new Chance(seed, id);
      const wallMs = 1e9 + chance.below(1e6);
      const node = new SimulatedNode(
        this.world,
        this.judge,
        id,
        nodeRateOf(chance, traits),
        wallMs,
      );
      for (const text of parts.scripts.texts) node.memory.execute(["SCRIPT", "LOAD", text]);
      this.nodes.push(node);
    }
  }

  get resources(): readonly string[] {
    return this.#parts.traits.resources;
  }

  get section(): Section | undefined {
    return this.#parts.section;
  }

  isStopping(): boolean {
    return this.#stopping;
  }

  client(index: number): SimulatedClient | undefined {
    return this.#clients[index];
  }

  async run(): Promise<void> {
    const { plan, traits, program } = this.#parts;
    for (const fault of plan) schedule(fault, this);
    for (let index = 0; index < traits.clients; index++) this.#start(index);
    const quietMs = endOf(plan);
    await this.#until("acquisitions", quietMs, () => this.#isDone(quietMs, program !== undefined));
    this.#stopping = true;
    await this.#until("end of work", this.world.nowMs, () => this.#open() === 0);
    await this.#probe();
    await this.#quiesce();
    await this.#closeAll();
    this.world.isOver = true;
    this.judge.forget();
  }

  crash(client: SimulatedClient, afterMs: number): void {
    this.world.log(client.id, "crashes");
    client.process.end();
    this.judge.ended(client.process);
    this.#tasks.delete(client);
    this.#clients[client.index] = undefined;
    this.#startLater(client.index, afterMs);
  }

  close(client: SimulatedClient, graceMs: number): void {
    if (client.isClosed) return;
    this.#clients[client.index] = undefined;
    this.#task(client, client.close(graceMs));
    this.#startLater(client.index, 1);
  }

  send(handle: LeaseHandle, from: SimulatedClient): void {
    const { chance } = from;
    const place = chance.below(this.#parts.traits.clients);
    const delayMs = chance.uniform() ** 2 * from.settings.ttlMs;
    this.#coming++;
    this.world.at(this.world.nowMs + delayMs, () => {
      this.#coming--;
      const to = this.#clients[place];
      to?.process.deliver(() => {
        if (!to.isClosed) this.#task(to, adopt(to, this, handle));
      });
    });
  }

  #isDone(quietMs: number, isProgram: boolean): boolean {
    if (isProgram) return this.#open() === 0 && this.world.nowMs >= quietMs;
    return this.judge.acquisitions >= this.#parts.acquisitions && this.world.nowMs >= quietMs;
  }

  #open(): number {
    let open = this.#coming;
    for (const count of this.#tasks.values()) open += count;
    return open;
  }

  /** Lets events happen until something is done; that it takes too long is a violation. */
  async #until(what: string, fromMs: number, isDone: () => boolean): Promise<boolean> {
    const limitMs = fromMs + PATIENCE_MS;
    await this.world.run(() => this.world.nowMs > limitMs || isDone());
    if (isDone()) return true;
    const before = this.world.violations.length;
    this.judge.operations.expectProgress();
    if (this.world.violations.length === before) {
      this.world.violate("progress", `no ${what} within ${PATIENCE_MS} ms`);
    }
    return false;
  }

  #startLater(index: number, afterMs: number): void {
    this.#coming++;
    this.world.at(this.world.nowMs + afterMs, () => {
      this.#coming--;
      if (!this.#stopping) this.#start(index);
    });
  }

  #start(index: number): void {
    const { program, traits } = this.#parts;
    const client = this.#create(index);
    this.#clients[index] = client;
    if (program) {
      this.#coming++;
      this.world.at(this.world.nowMs, () => {
        this.#coming--;
        client.process.deliver(() => this.#task(client, this.#runProgram(client, program)));
      });
      return;
    }
    for (let task = 0; task < traits.tasks; task++) {
      this.world.at(this.world.nowMs + client.chance.uniform(), () =>
        client.process.deliver(() => this.#task(client, work(client, this))),
      );
    }
  }

  async #runProgram(
    client: SimulatedClient,
    program: (client: SimulatedClient) => Promise<void>,
  ): Promise<void> {
    try {
      await program(client);
    } catch (error) {
      client.violate("error", `${client.id}'s program failed: ${String(error)}`);
    }
  }

  #create(index: number): SimulatedClient {
    const { seed, traits, Class, options } = this.#parts;
    const generation = (this.#processes.get(index) ?? 0) + 1;
    this.#processes.set(index, generation);
    const id = generation > 1 ? `c${index + 1}'${generation}` : `c${index + 1}`;
    const clockTraits = clockTraitsOf(new Chance(seed, `clock of c${index}`), traits);
    const process = new Process(this.world, id, clockTraits, new Chance(seed, `core of ${id}`));
    const links = this.nodes.map(
      (node, at) =>
        new Link(
          this.#wiring,
          process,
          node,
          this.wires.between(index, at),
          traits.link,
          new Chance(seed, `${id}-${node.id}`),
        ),
    );
    const { settings } = traits;
    const { clock, random } = process;
    const redlock = new Class(links, { ...settings, ...options, clock, random });
    this.judge.watch(process, redlock);
    const chance = new Chance(seed, id);
    const { world, judge } = this;
    const parts = { index, world, judge, process, links, redlock, settings, chance };
    const client = new SimulatedClient(parts);
    this.#everybody.push(client);
    return client;
  }

  #task(client: SimulatedClient, task: Promise<void>): void {
    this.#tasks.set(client, (this.#tasks.get(client) ?? 0) + 1);
    const end = (): void => {
      const left = this.#tasks.get(client);
      if (left) this.#tasks.set(client, left - 1);
    };
    task.then(end, (error) => {
      end();
      client.violate("error", `${client.id}: ${String(error)}`);
    });
  }

  /** Progress: once all is well, a new client gets every lock as soon as the keys left behind expire. */
  async #probe(): Promise<void> {
    const { traits } = this.#parts;
    const { settings, resources } = traits;
    const client = this.#create(traits.clients);
    const startedMs = this.world.nowMs;
    const { lastArrivalMs } = this.#wiring;
    const keysGoneMs = Math.max(
      startedMs,
      ...this.nodes.map((node) => lastGoneMs(node, startedMs)),
      // What is still under way may set keys once more.
      lastArrivalMs > startedMs ? lastArrivalMs + settings.ttlMs * 3 : 0,
    );
    const roundMs = Math.max(settings.retryDelayMs, 2 * settings.nodeTimeoutMs);
    const waitMs = (keysGoneMs - startedMs) * 1.1 + roundMs * 10 * 2 + settings.nodeTimeoutMs + 50;
    const probe = async (): Promise<void> => {
      for (const resource of resources) {
        try {
          const holding = await client.acquire(resource, { waitMs });
          await holding.release();
        } catch (error) {
          const message = `a new client does not get ${resource} within ${waitMs.toFixed(2)} ms: ${String(error)}`;
          client.violate("progress", message);
        }
      }
    };
    this.world.at(startedMs, () => client.process.deliver(() => this.#task(client, probe())));
    await this.world.run(() => this.#open() > 0);
    await this.#until("lock for a new client", this.world.nowMs, () => this.#open() === 0);
  }

  /** Once all is done nothing may be left: no keys, no timers, no listeners. */
  async #quiesce(): Promise<void> {
    const { settings } = this.#parts.traits;
    const goneMs = Math.max(...this.nodes.map((node) => lastGoneMs(node, this.world.nowMs)));
    const endMs = Math.max(this.world.nowMs, goneMs) + settings.ttlMs * 2.5 + 10;
    this.world.at(endMs, () => {});
    await this.world.run(() => this.world.nowMs >= endMs);
    this.judge.leftovers.sweep(this.nodes);
    for (const node of this.nodes) {
      const left = Object.keys(node.memory.dump());
      if (left.length > 0) this.world.violate("leftover", `${node.id} keeps ${left.join()}`);
    }
    this.#expectNothingIn("after all work");
  }

  async #closeAll(): Promise<void> {
    for (const client of this.#everybody) {
      if (client.isClosed || client.process.state === "ended") continue;
      this.world.at(this.world.nowMs, () =>
        client.process.deliver(() => this.#task(client, client.close(0))),
      );
    }
    await this.world.run(() => false);
    this.judge.operations.expectProgress();
    if (this.judge.operations.open > 0) {
      this.world.violate("bound", `${this.judge.operations.open} promises never settle`);
    }
    this.#expectNothingIn("after close");
  }

  #expectNothingIn(when: string): void {
    for (const { id, process, listeners } of this.#everybody) {
      if (process.state === "ended") continue;
      const { timers } = process.clock;
      if (timers > 0) this.world.violate("leftover", `${id} has ${timers} timers ${when}`);
      if (listeners > 0) this.world.violate("leftover", `${id} has ${listeners} listeners ${when}`);
    }
  }
}

function lastGoneMs(node: SimulatedNode, nowMs: number): number {
  return node.keys.standing(nowMs).reduce((last, [, { goneAtMs }]) => Math.max(last, goneAtMs), 0);
}
