import type { RedisNode, SendOptions } from "@redlatch/core";
import { fromByteString, toByteString } from "./bytes.ts";
import { systemWallClock, type WallClock } from "./clock.ts";
import { dumpKeyspace, type MemoryNodeDump } from "./dump.ts";
import type { Entry } from "./keyspace.ts";
import { type Reply, StatusReply } from "./reply.ts";
import { Server } from "./server.ts";
import { type MessageListener, Subscribers } from "./subscribers.ts";

/** What {@link memoryNode} takes. */
export interface MemoryNodeOptions {
  /**
   * Appears in votes, events and errors.
   * @defaultValue `memory-1`, `memory-2`, … : unique in the process
   */
  readonly name?: string | undefined;
  /**
   * Where the node reads the time at which keys expire, e.g. a {@link virtualClock}.
   * @defaultValue the machine's clock, read at call time, so that fake timers work
   */
  readonly clock?: WallClock | undefined;
}

/** What survives {@link MemoryNode.restart}: nothing, or all keys (as with an append-only file). */
export type Persistence = "none" | "all";

/** A copy of a node's keys, from {@link MemoryNode.snapshot}. */
export interface MemoryNodeSnapshot {
  readonly entries: ReadonlyMap<string, Entry>;
}

/** A reply as a driver gives it. A script may give an array with an Error in it. */
export type NodeReply = number | string | null | Error | NodeReply[];

interface HeldBack {
  run(): void;
  fail(error: Error): void;
}

/** An in-process Redis; see {@link memoryNode}. */
export class MemoryNode implements RedisNode {
  readonly name: string;
  readonly #clock: WallClock;
  readonly #subscribers: Subscribers = new Subscribers();
  readonly #server: Server;
  #state: "up" | "hung" | "down" = "up";
  #heldBack: HeldBack[] = [];

  constructor(name: string, clock: WallClock) {
    this.name = name;
    this.#clock = clock;
    this.#server = new Server((channel, message) =>
      this.#subscribers.publish(fromByteString(channel), fromByteString(message)),
    );
  }

  /** Whether it answers, holds commands back, or refuses connections. */
  get state(): "up" | "hung" | "down" {
    return this.#state;
  }

  /** How many subscriptions are open, over all channels. */
  get subscriptions(): number {
    return this.#subscribers.size;
  }

  /**
   * Executes a command at once and answers in a microtask, without timers. While the node hangs the
   * promise pends. `options` are ignored: a command that was sent is executed, also when its sender
   * has given up.
   *
   * @throws (rejects with) the error reply, e.g. `WRONGTYPE …`; or ECONNREFUSED while the node is killed
   */
  send(command: readonly string[], _options?: SendOptions): Promise<NodeReply> {
    return this.#request(() => this.execute(command));
  }

  /**
   * Executes a command synchronously, for simulators.
   *
   * @throws the error reply; an Error while the node hangs or is killed
   */
  execute(command: readonly string[]): NodeReply {
    if (this.#state !== "up") {
      throw this.#state === "down" ? this.#refused() : new Error(`${this.name} hangs`);
    }
    return toNodeReply(this.#server.execute(encode(command), this.#clock.wallMs()));
  }

  /**
   * Calls `listener` with each message on `channel`, in a microtask after PUBLISH, until the returned
   * function is called. A subscription outlives a restart, as with a driver that subscribes again.
   */
  subscribe(channel: string, listener: MessageListener): Promise<() => Promise<void>> {
    return this.#request(() => {
      const unsubscribe = this.#subscribers.add(channel, listener);
      return async () => unsubscribe();
    });
  }

  /** Holds all commands back, like SIGSTOP: their promises pend. */
  hang(): void {
    if (this.#state === "up") this.#state = "hung";
  }

  /** Ends {@link hang}: the commands held back are executed now, in order. */
  resume(): void {
    if (this.#state !== "hung") return;
    this.#state = "up";
    for (const request of this.#takeHeldBack()) request.run();
  }

  /** Ends the node: commands held back are lost, later ones are refused until {@link restart}. */
  kill(): void {
    this.#state = "down";
    const error = withCode(`read ECONNRESET ${this.name}`, "ECONNRESET");
    for (const request of this.#takeHeldBack()) request.fail(error);
  }

  /**
   * Starts the node again, killing it first if it runs. The script cache is empty afterwards.
   *
   * @param options - `persistence`: "none" loses all keys, "all" keeps them. Default "none".
   */
  restart({ persistence = "none" }: { readonly persistence?: Persistence } = {}): void {
    this.kill();
    if (persistence === "none") this.flush();
    this.flushScripts();
    this.#state = "up";
  }

  /** Deletes all keys, whatever state the node is in. */
  flush(): void {
    this.#server.keyspace.clear();
  }

  /** Empties the script cache: the next EVALSHA is answered with NOSCRIPT. */
  flushScripts(): void {
    this.#server.scripts.clear();
  }

  /** The live keys with value and remaining milliseconds, whatever state the node is in. */
  dump(): MemoryNodeDump {
    this.#server.keyspace.nowMs = Math.floor(this.#clock.wallMs());
    return dumpKeyspace(this.#server.keyspace);
  }

  /** A key's value and expiry as the last command left them. For simulators: costs no command. */
  peek(key: string): Readonly<Entry> | undefined {
    return this.#server.keyspace.find(key);
  }

  /** Copies the keys, to go back to them later, e.g. for a crash that loses the last second. */
  snapshot(): MemoryNodeSnapshot {
    return { entries: this.#server.keyspace.copyEntries() };
  }

  /** Replaces all keys by those of a snapshot. Expiry times are absolute: time has gone on for them. */
  restoreSnapshot(snapshot: MemoryNodeSnapshot): void {
    this.#server.keyspace.replaceEntries(snapshot.entries);
  }

  #request<T>(answer: () => T): Promise<T> {
    if (this.#state === "down") return Promise.reject(this.#refused());
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(answer());
        } catch (error) {
          reject(error);
        }
      };
      if (this.#state === "up") run();
      else this.#heldBack.push({ run, fail: reject });
    });
  }

  #takeHeldBack(): HeldBack[] {
    const heldBack = this.#heldBack;
    this.#heldBack = [];
    return heldBack;
  }

  #refused(): Error {
    return withCode(`connect ECONNREFUSED ${this.name}`, "ECONNREFUSED");
  }
}

let unnamed = 0;

/**
 * Makes an in-process Redis 7 for tests, simulations and demos: the commands and scripts that the core
 * sends, and the usual ones on strings, hashes, sorted sets, expiry and channels.
 *
 * It shares nothing with other nodes or processes, and forgets all when the process ends.
 *
 * @example
 * ```ts
 * import { Redlock } from "@redlatch/core";
 * import { memoryNode } from "@redlatch/testing";
 *
 * const nodes = [memoryNode(), memoryNode(), memoryNode()];
 * const redlock = new Redlock(nodes);
 * nodes[0]?.hang();
 * await redlock.using("invoice:42", async () => console.log(nodes[1]?.dump()));
 * ```
 */
export function memoryNode(options: MemoryNodeOptions = {}): MemoryNode {
  const { name = `memory-${++unnamed}`, clock = systemWallClock } = options;
  if (typeof name !== "string" || !name) {
    throw new TypeError(`a node's name must be a non-empty string, got ${String(name)}`);
  }
  return new MemoryNode(name, clock);
}

function encode(command: readonly string[]): readonly string[] {
  if (command.length === 0) throw new TypeError("a command needs a name, got []");
  let isEncoded = true;
  for (let index = 0; index < command.length; index++) {
    const word = command[index]!;
    if (typeof word !== "string") {
      throw new TypeError(
        `a command's words must be strings, got ${String(word)} in ${command[0]}`,
      );
    }
    isEncoded &&= toByteString(word) === word;
  }
  return isEncoded ? command : command.map(toByteString);
}

function toNodeReply(reply: Reply): NodeReply {
  if (typeof reply === "string") return fromByteString(reply);
  if (reply instanceof StatusReply) return fromByteString(reply.text);
  return Array.isArray(reply) ? reply.map(toNodeReply) : reply;
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
