import type { Vote } from "@redlatch/core";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** Judges what a process' events tell of its nodes: of changes, and of those only. */
export class NodeHealth {
  readonly #world: World;
  readonly #process: Process;
  /** By node: whether it was last said to have failed. */
  readonly #failing = new Map<string, boolean>();

  constructor(world: World, process: Process) {
    this.#world = world;
    this.#process = process;
  }

  failed(node: string): void {
    if (this.#failing.get(node)) this.#violate(`${node} failed, twice in a row`);
    this.#failing.set(node, true);
  }

  recovered(node: string): void {
    if (!this.#failing.get(node)) this.#violate(`${node} recovered, which had not failed`);
    this.#failing.set(node, false);
  }

  /** A failed vote is told, the first one at least: later another round may have said that all is well again. */
  voted(votes: readonly Vote[]): void {
    for (const { node, outcome } of votes) {
      if (outcome !== "failed" || this.#failing.has(node)) continue;
      this.#world.violate("agreement", `${this.#process.id} does not say that ${node} failed`);
    }
  }

  #violate(what: string): void {
    this.#world.violate("agreement", `${this.#process.id} says that ${what}`);
  }
}
