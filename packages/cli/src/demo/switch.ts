import { defineNode, type RedisNode } from "@redlatch/core";
import type { DemoNode } from "./node-set.ts";

/**
 * Stands in front of all clients of one real server and makes it look killed or hung to them, because a
 * demo must not do that to a server that others use.
 */
export class Switch implements DemoNode {
  readonly name: string;
  #state: DemoNode["state"] = "up";
  #withheld: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get state(): DemoNode["state"] {
    return this.#state;
  }

  kill(): void {
    this.#state = "killed";
  }

  restart(): void {
    this.#state = "up";
  }

  hang(): void {
    this.#state = "hung";
  }

  /** Withheld commands run now, in order and late, as on a server that was frozen. */
  resume(): void {
    this.#state = "up";
    const withheld = this.#withheld;
    this.#withheld = [];
    for (const run of withheld) run();
  }

  /** The node as seen through this switch. */
  guard(node: RedisNode): RedisNode {
    const { client, timeoutMs } = node;
    const send: RedisNode["send"] = (command, options) => {
      if (this.#state === "killed") {
        return Promise.reject(new Error("refused by the demo's switch"));
      }
      if (this.#state === "up") return node.send(command, options);
      return new Promise((resolve) => {
        this.#withheld.push(() => resolve(node.send(command, options)));
      });
    };
    return defineNode(this.name, send, { client, timeoutMs });
  }
}
