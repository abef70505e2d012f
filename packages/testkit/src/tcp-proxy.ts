import { once } from "node:events";
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from "node:net";
import { ProxyConnection, type ProxyFaults } from "./proxy-connection.ts";

export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

export interface DelayOptions {
  /** Which bytes wait. @defaultValue "replies" */
  readonly of?: "requests" | "replies";
}

/** A TCP proxy on 127.0.0.1 that breaks the network between a driver and its server on demand. */
export interface TcpProxy extends AsyncDisposable {
  readonly host: "127.0.0.1";
  readonly port: number;
  readonly url: string;
  /** How many connections of drivers are open now. */
  readonly connections: number;
  /** Delivers each byte `ms` milliseconds late, in order. */
  delay(ms: number, options?: DelayOptions): void;
  /**
   * Lets through no more than so many bytes per second on each connection and in each direction; a piece
   * of data arrives whole, when its last byte would.
   */
  throttle(bytesPerSecond: number): void;
  /** Drops all connections at once, as a reset. New ones are accepted. */
  cut(): void;
  /**
   * `count` times: lets the request through, swallows the reply, then cuts that connection. The server
   * has executed, the driver cannot know. Any reply counts, also one to a driver's own greeting, so
   * let the driver connect first.
   */
  dropReplies(count: number): void;
  /** Keeps connections open and accepts new ones, but forwards nothing until heal(). */
  halfOpen(): void;
  /** Closes the port and cuts: new connections are refused. */
  refuse(): Promise<void>;
  /** Undoes refuse(). */
  listen(): Promise<void>;
  /** Undoes every fault; what waited is delivered. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a proxy in front of a server. */
export async function tcpProxy(target: ProxyTarget): Promise<TcpProxy> {
  const proxy = new FaultProxy(target);
  await proxy.listen();
  return proxy;
}

class FaultProxy implements TcpProxy {
  readonly host = "127.0.0.1" as const;
  readonly #target: ProxyTarget;
  readonly #faults: ProxyFaults = {
    requestDelayMs: 0,
    replyDelayMs: 0,
    bytesPerSecond: Infinity,
    repliesToDrop: 0,
    halfOpen: false,
  };
  readonly #connections = new Set<ProxyConnection>();
  #listener: Server | undefined;
  #port = 0;

  constructor(target: ProxyTarget) {
    this.#target = target;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://${this.host}:${this.#port}`;
  }

  get connections(): number {
    return this.#connections.size;
  }

  delay(ms: number, { of = "replies" }: DelayOptions = {}): void {
    if (of === "requests") this.#faults.requestDelayMs = ms;
    else this.#faults.replyDelayMs = ms;
  }

  throttle(bytesPerSecond: number): void {
    this.#faults.bytesPerSecond = bytesPerSecond;
  }

  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  dropReplies(count: number): void {
    this.#faults.repliesToDrop = count;
  }

  halfOpen(): void {
    this.#faults.halfOpen = true;
    for (const connection of this.#connections) connection.pause();
  }

  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    const closed = listener && once(listener, "close");
    listener?.close();
    this.cut();
    await closed;
  }

  async listen(): Promise<void> {
    if (this.#listener) return;
    const listener = createServer({ noDelay: true }, (client) => this.#accept(client));
    listener.listen(this.#port, this.host);
    await once(listener, "listening");
    this.#port = (listener.address() as AddressInfo).port;
    this.#listener = listener;
  }

  async heal(): Promise<void> {
    this.#faults.requestDelayMs = 0;
    this.#faults.replyDelayMs = 0;
    this.#faults.bytesPerSecond = Infinity;
    this.#faults.repliesToDrop = 0;
    this.#faults.halfOpen = false;
    for (const connection of this.#connections) connection.resume();
    await this.listen();
  }

  async stop(): Promise<void> {
    await this.refuse();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #accept(client: Socket): void {
    const server = createConnection({ ...this.#target, noDelay: true });
    const connection = new ProxyConnection(client, server, this.#faults);
    this.#connections.add(connection);
    client.once("close", () => this.#connections.delete(connection));
    if (this.#faults.halfOpen) connection.pause();
  }
}
