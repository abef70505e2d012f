import type { LeaseHandle, RedlockOptions } from "@redlatch/core";
import type { Drain } from "./drain.ts";
import { Ending } from "./ending.ts";
import type { Fault } from "./fault.ts";
import { schedule, type Victims } from "./faults.ts";
import { Judge } from "./judge.ts";
import type { Wiring } from "./link.ts";
import { endOf } from "./plan.ts";
import { Population } from "./population.ts";
import { Chance } from "./random.ts";
import type { RedlockClass, Scripts } from "./scripts.ts";
import type { SimulatedClient } from "./simulated-client.ts";
import { SimulatedNode } from "./simulated-node.ts";
import { nodeRateOf, type Traits } from "./traits.ts";
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
  readonly #population: Population;
  readonly #ending: Ending;
  #stopping = false;
  /** Processes that are to be started, and handles on their way. */
  #coming = 0;

  constructor(parts: SimulationParts) {
    const { traits, scripts } = parts;
    const world = new World(parts.drain);
    const { nodes } = this;
    const judge = new Judge(world, nodes, traits, parts.excusesLostData);
    // One more place: for the client that comes at the end.
    const wires = new Wires(traits.clients + 1, traits.nodes);
    const wiring: Wiring = { world, witness: judge.traffic, scripts, lastArrivalMs: 0 };
    const population = new Population(parts, world, judge, nodes, wires, wiring);
    this.#parts = parts;
    this.world = world;
    this.judge = judge;
    this.wires = wires;
    this.#population = population;
    this.#ending = new Ending({ world, judge, nodes, population, wiring, traits });
    for (let index = 0; index < traits.nodes; index++) nodes.push(this.#createNode(index));
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
    return this.#population.at(index);
  }

  async run(): Promise<void> {
    const { plan, traits, program } = this.#parts;
    for (const fault of plan) schedule(fault, this);
    for (let index = 0; index < traits.clients; index++) this.#start(index);
    const quietMs = endOf(plan);
    await this.#until("acquisitions", quietMs, () => this.#isDone(quietMs, program !== undefined));
    this.#stopping = true;
    await this.#until("end of work", this.world.nowMs, () => this.#open() === 0);
    await this.#ending.probe();
    await this.#until("lock for a new client", this.world.nowMs, () => this.#open() === 0);
    await this.#ending.quiesce();
    await this.#ending.close();
    this.world.isOver = true;
    this.judge.forget();
  }

  crash(client: SimulatedClient, afterMs: number): void {
    this.world.log(client.id, "crashes");
    this.#population.end(client);
    this.#startLater(client.index, afterMs);
  }

  close(client: SimulatedClient, graceMs: number): void {
    if (client.isClosed) return;
    this.#population.leave(client);
    this.#population.occupy(client, client.close(graceMs));
    this.#startLater(client.index, 1);
  }

  send(handle: LeaseHandle, from: SimulatedClient): void {
    const { chance } = from;
    const place = chance.below(this.#parts.traits.clients);
    const delayMs = chance.uniform() ** 2 * from.settings.ttlMs;
    this.#coming++;
    this.world.at(this.world.nowMs + delayMs, () => {
      this.#coming--;
      const to = this.#population.at(place);
      to?.process.deliver(() => {
        if (!to.isClosed) this.#population.occupy(to, adopt(to, this, handle));
      });
    });
  }

  #isDone(quietMs: number, isProgram: boolean): boolean {
    if (isProgram) return this.#open() === 0 && this.world.nowMs >= quietMs;
    return this.judge.acquisitions >= this.#parts.acquisitions && this.world.nowMs >= quietMs;
  }

  /** What is not done yet. */
  #open(): number {
    return this.#coming + this.#population.busy;
  }

  /** Lets events happen until something is done; that it takes too long is a violation. */
  async #until(what: string, fromMs: number, isDone: () => boolean): Promise<boolean> {
    const limitMs = fromMs + PATIENCE_MS;
    await this.world.run(() => this.world.nowMs > limitMs || isDone());
    if (isDone()) return true;
    const before = this.world.violations.length;
    this.judge.operations.expectProgress();
    if (this.world.violations.length === before) {
      const why =
        this.world.nowMs > limitMs
          ? `within ${PATIENCE_MS} ms`
          : "though nothing is left to happen: did something wait for anything but the simulation?";
      this.world.violate("progress", `no ${what} ${why}`);
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
    const client = this.#population.create(index);
    if (program) {
      this.#begin(client, 0, () => this.#runProgram(client, program));
      return;
    }
    for (let task = 0; task < traits.tasks; task++) {
      this.#begin(client, client.chance.uniform(), () => work(client, this));
    }
  }

  /** Has a client begin something, in a turn of its own. */
  #begin(client: SimulatedClient, afterMs: number, task: () => Promise<void>): void {
    this.#coming++;
    this.world.at(this.world.nowMs + afterMs, () => {
      this.#coming--;
      client.process.deliver(() => this.#population.occupy(client, task()));
    });
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

  #createNode(index: number): SimulatedNode {
    const { seed, scripts, traits } = this.#parts;
    const id = `n${index + 1}`;
    const chance = new Chance(seed, id);
    const wallMs = 1e9 + chance.below(1e6);
    const rate = nodeRateOf(chance, traits);
    const node = new SimulatedNode(this.world, this.judge.executions, id, rate, wallMs);
    for (const text of scripts.texts) node.memory.execute(["SCRIPT", "LOAD", text]);
    return node;
  }
}
