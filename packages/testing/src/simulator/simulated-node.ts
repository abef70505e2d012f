import {
  type MemoryNode,
  type MemoryNodeSnapshot,
  memoryNode,
  type NodeReply,
} from "../memory-node.ts";
import type { Message } from "./message.ts";
import { NodeClock } from "./node-clock.ts";
import { NodeKeys } from "./node-keys.ts";
import type { World } from "./world.ts";

/** How much a node still knows after a crash: everything, nothing, or all but the last so many milliseconds. */
export type Survival = "all" | "none" | number;

/** Watches what happens on nodes. */
export interface NodeWitness {
  /** A command is about to be executed, or data about to be lost. */
  beforeChange(keys: readonly string[]): void;
  executed(node: SimulatedNode, message: Message, reply: NodeReply): void;
  /** Data was lost, or the clock has jumped. */
  suffered(node: SimulatedNode): void;
}

/** One node of the simulation: a memory node with a clock of its own, which can hang and crash. */
export class SimulatedNode {
  readonly id: string;
  readonly memory: MemoryNode;
  readonly clock: NodeClock;
  readonly keys: NodeKeys;
  readonly #world: World;
  readonly #witness: NodeWitness;
  #state: "up" | "hung" | "down" = "up";
  #waiting: Message[] = [];

  constructor(world: World, witness: NodeWitness, id: string, rate: number, wallAtStartMs: number) {
    this.#world = world;
    this.#witness = witness;
    this.id = id;
    this.clock = new NodeClock(world, rate, wallAtStartMs);
    this.memory = memoryNode({ name: id, clock: this.clock });
    this.keys = new NodeKeys(this.memory, this.clock);
  }

  get state(): "up" | "hung" | "down" {
    return this.#state;
  }

  /** A command has arrived. */
  receive(message: Message): void {
    if (this.#state === "up") this.#execute(message);
    else if (this.#state === "hung") this.#waiting.push(message);
    else message.refused(new Error(`connect ECONNREFUSED ${this.id}`));
  }

  hang(): void {
    if (this.#state !== "up") return;
    this.#state = "hung";
    this.#world.log(this.id, "hangs");
  }

  /** Ends {@link hang}: what was held back is executed in order. */
  resume(): void {
    if (this.#state !== "hung") return;
    this.#state = "up";
    this.#world.log(this.id, "resumes");
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) this.receive(message);
  }

  crash(): void {
    if (this.#state === "down") return;
    this.#state = "down";
    this.#world.log(this.id, "crashes");
    for (const message of this.#waiting) message.refused(new Error(`read ECONNRESET ${this.id}`));
    this.#waiting = [];
  }

  /** Comes back after a crash with all its keys, none, or those of a snapshot. */
  restart(survived: "all" | "none" | MemoryNodeSnapshot): void {
    if (this.#state !== "down") return;
    this.#state = "up";
    const what = typeof survived === "string" ? survived : "older";
    this.#world.log(this.id, "restarts with", `${what} keys`);
    this.#suffer(() => {
      this.memory.restart({ persistence: survived === "all" ? "all" : "none" });
      if (typeof survived !== "string") this.memory.restoreSnapshot(survived);
    });
  }

  flush(): void {
    if (this.#state !== "up") return;
    this.#world.log(this.id, "FLUSHALL");
    this.#suffer(() => this.memory.flush());
  }

  flushScripts(): void {
    this.#world.log(this.id, "SCRIPT FLUSH");
    this.memory.flushScripts();
  }

  jump(byMs: number): void {
    this.#world.log(this.id, "wall clock jumps by", byMs);
    this.#suffer(() => this.clock.jump(byMs));
  }

  runAt(rate: number): void {
    this.#world.log(this.id, "clock runs at", rate);
    this.#suffer(() => this.clock.runAt(rate));
  }

  #suffer(disaster: () => void): void {
    this.#witness.beforeChange([...this.keys.all()].map(([key]) => key));
    this.keys.suffer(this.#world.nowMs, disaster);
    this.#witness.suffered(this);
  }

  #execute(message: Message): void {
    this.#witness.beforeChange(message.keys);
    let reply: NodeReply;
    try {
      reply = this.memory.execute(message.command);
    } catch (error) {
      reply = error as Error;
    }
    this.#witness.executed(this, message, reply);
    message.executed(reply);
  }
}
