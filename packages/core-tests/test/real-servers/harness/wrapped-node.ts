import type { Command, RedisNode, SendOptions } from "@redlatch/core";
import { pollUntil } from "@redlatch/testkit";

/** Stands between the core and a node: decides when and whether the real command is sent. */
export type Between = (
  send: () => Promise<unknown>,
  command: Command,
  options: SendOptions,
) => unknown;

/** A node whose every command goes through `between`. */
export function wrapped(node: RedisNode, between: Between): RedisNode {
  return {
    ...node,
    send: async (command, options) => between(() => node.send(command, options), command, options),
  };
}

/** Whether the command sets or extends keys; the other scripts of the core end with 0. */
const setsKeys = (command: Command): boolean => Number(command.at(-1)) > 0;

export interface HoldingNode {
  readonly node: RedisNode;
  /**
   * From now on commands that set keys stay here, while all others pass: a transport that reorders.
   *
   * @param letPass - How many of them still pass before.
   * @param count - How many are kept back; all where left out.
   */
  hold(letPass?: number, count?: number): void;
  /** How many commands are kept back. */
  readonly held: number;
  /**
   * Sends what was kept back and resolves when the server has executed it.
   *
   * @param fate - What becomes of the answers: delivered, turned into an error, or never given.
   */
  letGo(fate: "answered" | "rejected" | "unanswered"): Promise<void>;
}

/** Makes a node that can keep key-setting commands back and let everything else overtake them. */
export function holdingNode(node: RedisNode): HoldingNode {
  const held: ((fate: string) => Promise<void>)[] = [];
  let passing = 0;
  let places = 0;
  const between: Between = (send, command, options) => {
    if (places === 0 || !setsKeys(command) || passing-- > 0) return send();
    places--;
    return new Promise((resolve, reject) => {
      held.push(async (fate) => {
        // It stands for a command that has left: nobody can call it off any more.
        const { signal } = new AbortController();
        const reply = await node.send(command, { ...options, signal });
        if (fate === "answered") resolve(reply);
        if (fate === "rejected") reject(new Error("the connection was cut before the reply"));
      });
    });
  };
  return {
    node: wrapped(node, between),
    hold(letPass = 0, count = Number.POSITIVE_INFINITY) {
      passing = letPass;
      places = count;
    },
    get held() {
      return held.length;
    },
    async letGo(fate) {
      await pollUntil("a command was kept back", () => held.length > 0);
      places = 0;
      await Promise.all(held.splice(0).map((release) => release(fate)));
    },
  };
}

export interface CountingNode {
  readonly node: RedisNode;
  /** How many commands were sent so far. */
  readonly commands: number;
}

/** Makes a node that counts what the core sends. */
export function countingNode(node: RedisNode): CountingNode {
  let commands = 0;
  return {
    node: wrapped(node, (send) => {
      commands++;
      return send();
    }),
    get commands() {
      return commands;
    },
  };
}
