import { type RedisNode, Redlock, type RedlockOptions } from "@redlatch/core";
import {
  pollUntil,
  type RealServer,
  type ServerPool,
  type TcpProxy,
  tcpProxy,
} from "@redlatch/testkit";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Connection, Harness } from "./harness.ts";

const OTHER = "somebody-else";

/** The servers of one file of rows; what a test adds to them or breaks is undone after it. */
export class Testbed {
  readonly ttlMs: number;
  readonly #harness: Harness;
  #pool: ServerPool | undefined;
  readonly #pools: ServerPool[] = [];
  readonly #connections: Connection[] = [];
  readonly #redlocks: Redlock[] = [];
  readonly #proxies: TcpProxy[] = [];

  constructor(harness: Harness, count = 5) {
    this.#harness = harness;
    this.ttlMs = harness.ttlMs;
    beforeAll(async () => {
      this.#pool = await harness.startNodes(count);
      // From here on every server knows the scripts: a call is one command.
      const lease = await (await this.client()).acquire("warm-up", { ttlMs: 10_000 });
      await lease.extend();
      await lease.release();
      await this.#clear();
    });
    afterEach(() => this.#clear());
    afterAll(() => this.#pool?.stop());
  }

  get servers(): readonly RealServer[] {
    return this.#pool?.servers ?? [];
  }

  /** More servers, with options of their own, until the end of the test. */
  async startMore(...[count, options]: Parameters<Harness["startNodes"]>): Promise<ServerPool> {
    const pool = await this.#harness.startNodes(count, options);
    this.#pools.push(pool);
    return pool;
  }

  /** A proxy before each server. */
  async proxies(): Promise<TcpProxy[]> {
    const proxies = await Promise.all(this.servers.map((server) => tcpProxy(server)));
    this.#proxies.push(...proxies);
    return proxies;
  }

  /** A new client for each endpoint, as the driver makes it: it may not be connected yet. */
  nodes(endpoints: readonly { readonly url: string }[] = this.servers): RedisNode[] {
    const connections = endpoints.map(({ url }) => this.#harness.connect(url, new URL(url).host));
    this.#connections.push(...connections);
    return connections.map(({ node }) => node);
  }

  /** The same, each of them connected. */
  async connectedNodes(endpoints?: readonly { readonly url: string }[]): Promise<RedisNode[]> {
    const nodes = this.nodes(endpoints);
    await Promise.all(nodes.map((node) => pollUntil(`${node.name} answers`, () => look(node))));
    return nodes;
  }

  redlock(nodes: readonly RedisNode[], options: RedlockOptions = {}): Redlock {
    const redlock = new Redlock(nodes, { ttlMs: this.ttlMs, ...options });
    this.#redlocks.push(redlock);
    return redlock;
  }

  /** What another process would have: a Redlock over connections of its own, connected to all servers. */
  async client(options?: RedlockOptions): Promise<Redlock> {
    return this.redlock(await this.connectedNodes(), options);
  }

  async hang(count: number): Promise<void> {
    await Promise.all(this.servers.slice(0, count).map((server) => server.hang()));
  }

  async resume(): Promise<void> {
    await Promise.all(this.servers.map(async (server) => server.alive && server.resume()));
  }

  async kill(count: number): Promise<void> {
    await Promise.all(this.servers.slice(0, count).map((server) => server.kill()));
  }

  /** Sets the resource's key on `servers` for somebody who is not one of our clients. */
  async occupy(
    resource: string,
    servers: readonly RealServer[] = this.servers,
    ttlMs: number = this.ttlMs,
  ): Promise<void> {
    await Promise.all(
      servers.map((server) => server.command("SET", `lock:${resource}`, OTHER, "PX", `${ttlMs}`)),
    );
  }

  /** Whether `occupy`'s key is still there, on each server. */
  async occupied(
    resource: string,
    servers: readonly RealServer[] = this.servers,
  ): Promise<boolean[]> {
    const values = await Promise.all(
      servers.map((server) => server.command("GET", `lock:${resource}`)),
    );
    return values.map((value) => value === OTHER);
  }

  /** All keys of each server; a killed one has none. */
  async keys(): Promise<string[][]> {
    return Promise.all(
      this.servers.map(async (server) =>
        server.alive ? ((await server.command("KEYS", "*")) as string[]).sort() : [],
      ),
    );
  }

  /** The remaining milliseconds of the resource's key on each server, in descending order. */
  async ttlsMs(resource: string): Promise<number[]> {
    const ttls = await Promise.all(
      this.servers.map((server) => server.command("PTTL", `lock:${resource}`)),
    );
    return (ttls as number[]).sort((a, b) => b - a);
  }

  /**
   * Waits, for less than keys need to expire by themselves, until no server has any key, and looks again a
   * little later.
   *
   * @param occupiedResource - Its key does not count where somebody else still holds it, see `occupy`.
   * @param ttlMs - The TTL of the keys, where the test has one of its own.
   */
  async expectNothingLeft(occupiedResource?: string, ttlMs: number = this.ttlMs): Promise<void> {
    const left = async () => {
      const foreign = occupiedResource ? await this.occupied(occupiedResource) : [];
      return (await this.keys()).map((keys, index) =>
        keys.filter((key) => !(foreign[index] && key === `lock:${occupiedResource}`)),
      );
    };
    // What was sent before on the same connections is executed by then.
    await Promise.allSettled(this.#connections.map(({ node }) => look(node)));
    await pollUntil("no key is left", async () => (await left()).flat().length === 0, {
      timeoutMs: ttlMs / 2,
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await left()).flat()).toEqual([]);
  }

  async #clear(): Promise<void> {
    await this.resume();
    await Promise.all(this.#proxies.splice(0).map((proxy) => proxy.stop()));
    await Promise.all(this.#redlocks.splice(0).map((redlock) => redlock.close({ graceMs: 0 })));
    for (const connection of this.#connections.splice(0)) connection.close();
    await Promise.all(this.#pools.splice(0).map((pool) => pool.stop()));
    await Promise.all(this.servers.map(async (server) => server.alive || server.restart()));
    await Promise.all(this.servers.map((server) => server.flush()));
  }
}

/** One harmless command; rejects when it was not answered soon. */
async function look(node: RedisNode): Promise<true> {
  const signal = AbortSignal.timeout(1_000);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  await Promise.race([node.send(["GET", "none"], { key: "none", signal }), late]);
  return true;
}
