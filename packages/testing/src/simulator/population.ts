import type { Judge } from "./judge.ts";
import { Link, type Wiring } from "./link.ts";
import { Process } from "./process.ts";
import { Chance } from "./random.ts";
import { SimulatedClient } from "./simulated-client.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { SimulationParts } from "./simulation.ts";
import { clockTraitsOf } from "./traits.ts";
import type { Wires } from "./wires.ts";
import type { World } from "./world.ts";

/** The clients, by their places, and what they are at. */
export class Population {
  /** All that ever ran. */
  readonly everybody: SimulatedClient[] = [];
  readonly #parts: SimulationParts;
  readonly #world: World;
  readonly #judge: Judge;
  readonly #nodes: readonly SimulatedNode[];
  readonly #wires: Wires;
  readonly #wiring: Wiring;
  /** Who runs in each place. */
  readonly #places: (SimulatedClient | undefined)[] = [];
  readonly #generations = new Map<number, number>();
  readonly #tasks = new Map<SimulatedClient, number>();

  constructor(
    parts: SimulationParts,
    world: World,
    judge: Judge,
    nodes: readonly SimulatedNode[],
    wires: Wires,
    wiring: Wiring,
  ) {
    this.#parts = parts;
    this.#world = world;
    this.#judge = judge;
    this.#nodes = nodes;
    this.#wires = wires;
    this.#wiring = wiring;
  }

  /** How many tasks are not done. */
  get busy(): number {
    let busy = 0;
    for (const count of this.#tasks.values()) busy += count;
    return busy;
  }

  at(index: number): SimulatedClient | undefined {
    return this.#places[index];
  }

  /** Starts a process in a place. */
  create(index: number): SimulatedClient {
    const { seed, traits, Class, options } = this.#parts;
    const generation = (this.#generations.get(index) ?? 0) + 1;
    this.#generations.set(index, generation);
    const id = generation > 1 ? `c${index + 1}'${generation}` : `c${index + 1}`;
    const world = this.#world;
    const judge = this.#judge;
    const { settings } = traits;
    const clockTraits = clockTraitsOf(new Chance(seed, `clock of c${index}`), traits);
    const process = new Process(world, id, clockTraits, new Chance(seed, `core of ${id}`));
    const links = this.#nodes.map((node, at) => {
      const wire = this.#wires.between(index, at);
      const chance = new Chance(seed, `${id}-${node.id}`);
      return new Link(this.#wiring, process, node, wire, traits, chance);
    });
    const { clock, random } = process;
    const redlock = new Class(links, { ...options, ...settings, clock, random });
    judge.watch(process, redlock);
    const chance = new Chance(seed, id);
    const client = new SimulatedClient({ index, world, judge, process, redlock, settings, chance });
    this.everybody.push(client);
    this.#places[index] = client;
    return client;
  }

  /** A client gives its place up; what it is at goes on. */
  leave(client: SimulatedClient): void {
    this.#places[client.index] = undefined;
  }

  /** A client's process ends, and with it all that it is at. */
  end(client: SimulatedClient): void {
    client.process.end();
    this.#judge.ended(client.process);
    this.#tasks.delete(client);
    this.leave(client);
  }

  /** A client has begun something that is to be waited for. */
  occupy(client: SimulatedClient, task: Promise<void>): void {
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
}
