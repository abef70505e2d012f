import { once } from "node:events";
import { outcome, type RealServer, type ServerPool, startServers } from "@redlatch/testkit";
import type { RedisOptions } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ioredisNode } from "../src/index.ts";
import { closing, drivers, send, soon } from "./drivers.ts";

const INCREMENT = "return redis.call('INCR', KEYS[1])";
const LOOK = "return redis.call('GET', KEYS[1]) or ''";
const WHO = "return KEYS[1]";

let pool: ServerPool;
let server: RealServer;

beforeAll(async () => {
  pool = await startServers(1);
  server = pool.servers[0]!;
});
afterAll(() => pool?.stop());
beforeEach(async () => {
  await server.resume();
  await server.flush();
});

describe.each(drivers)("$driver", ({ Redis, resp3 }) => {
  async function connect(options: Omit<RedisOptions, "replyMapping"> = {}) {
    const client = closing(new Redis(server.port, { ...soon, ...options }));
    await once(client, "ready");
    return { client, node: ioredisNode(client) };
  }

  /** Hangs the server, lets a command be written, cuts the connection, and lets the server go on. */
  async function cutInFlight(client: InstanceType<typeof Redis>, command: () => Promise<unknown>) {
    await server.hang();
    const sent = outcome(command());
    await new Promise((resolve) => setTimeout(resolve, 30));
    client.stream.destroy();
    const rejected = outcome(sent, 100);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.resume();
    await vi.waitUntil(() => client.status === "ready", { timeout: 10_000 });
    return rejected;
  }

  describe("when the connection drops while a command is in flight", () => {
    it("would run it twice by itself (the trap)", async () => {
      const { client } = await connect();
      await cutInFlight(client, () => client.incr("n"));
      await vi.waitFor(async () => expect(await client.get("n")).toBe("2"));
    });

    it.each([
      { autoResendUnfulfilledCommands: true },
      { autoResendUnfulfilledCommands: false },
      { enableAutoPipelining: true },
      { enableAutoPipelining: true, autoResendUnfulfilledCommands: false },
    ])("rejects the command at once and runs it at most once: %o", async (options) => {
      const { client, node } = await connect(options);
      const error = await cutInFlight(client, () => send(node, ["EVAL", INCREMENT, "1", "n"]));
      expect(error).toMatchObject({ message: expect.stringContaining("connection close") });
      expect(await send(node, ["EVAL", INCREMENT, "1", "m"])).toBe(1);
      expect(Number(await send(node, ["GET", "n"]))).toBeLessThanOrEqual(1);
    });

    it("still sends the user's own commands and pipelines again", async () => {
      const { client, node } = await connect();
      await server.hang();
      const before = client.incr("a");
      const ours = outcome(send(node, ["INCR", "n"]));
      const pipeline = client.pipeline().incr("b").incr("b").exec();
      await new Promise((resolve) => setTimeout(resolve, 30));
      client.stream.destroy();
      expect(await ours).toBeInstanceOf(Error);
      await server.resume();
      expect(await before).toBeGreaterThan(0);
      expect(await pipeline).toHaveLength(2);
    });
  });

  describe("on a hung server", () => {
    it("leaves the time limit to the core: the command stays pending", async () => {
      const { node } = await connect();
      await server.hang();
      const sent = send(node, ["SET", "a", "1"]);
      expect(await outcome(sent, 200)).toBe("pending");
      await server.resume();
      expect(await sent).toBe("OK");
    });

    it("passes commandTimeout's error on, while the command still runs later", async () => {
      const { client, node } = await connect({ commandTimeout: 100 });
      await server.hang();
      expect(await outcome(send(node, ["SET", "a", "1"]))).toMatchObject({
        message: "Command timed out",
      });
      await server.resume();
      await vi.waitFor(async () => expect(await client.get("a")).toBe("1"));
    });

    it("writes every command, instead of holding it back behind an automatic pipeline", async () => {
      const { client, node } = await connect({ enableAutoPipelining: true });
      await server.hang();
      const first = send(node, ["INCR", "n"]);
      await new Promise((resolve) => setTimeout(resolve, 30));
      const second = send(node, ["INCR", "n"]);
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(client.autoPipelineQueueSize).toBe(0);
      await server.resume();
      expect(await Promise.all([first, second])).toEqual([1, 2]);
    });
  });

  it.each([{ enableAutoPipelining: false }, { enableAutoPipelining: true }])(
    "answers each command and each error separately: %o",
    async (options) => {
      const { node } = await connect(options);
      const results = await Promise.allSettled([
        send(node, ["EVAL", INCREMENT, "1", "n"]),
        send(node, ["EVALSHA", "0".repeat(40), "1", "n"]),
        send(node, ["GET", "n"]),
        send(node, ["EVAL", LOOK, "1", "free"]),
      ]);
      expect(results[0]).toEqual({ status: "fulfilled", value: 1 });
      expect(results[1]).toMatchObject({ reason: { message: expect.stringMatching(/^NOSCRIPT/) } });
      expect(results[2]).toEqual({ status: "fulfilled", value: "1" });
      expect(results[3]).toEqual({ status: "fulfilled", value: "" });
    },
  );

  it("prefixes the keys of every command with the client's keyPrefix, in either case", async () => {
    const { node } = await connect({ keyPrefix: "app:" });
    expect(await send(node, ["EVAL", WHO, "1", "a"])).toBe("app:a");
    const sha = String(await server.command("SCRIPT", "LOAD", WHO));
    expect(await send(node, ["EVALSHA", sha, "1", "a"])).toBe("app:a");
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
    expect(await server.command("GET", "app:a")).toBe("1");
    expect(await send(node, ["get", "a"])).toBe("1");
    expect(await send(node, ["DEL", "a"])).toBe(1);
    expect(await server.command("DBSIZE")).toBe(0);
  });

  it("gives numbers as strings with stringNumbers, for the core to normalise", async () => {
    const { node } = await connect({ stringNumbers: true });
    expect(await send(node, ["EVAL", INCREMENT, "1", "n"])).toBe("1");
  });

  it("works without an offline queue, from the first command on", async () => {
    const client = closing(new Redis(server.port, { enableOfflineQueue: false }));
    expect(await send(ioredisNode(client), ["SET", "a", "1"])).toBe("OK");
  });

  it("works in the client's database", async () => {
    const { node } = await connect({ db: 2 });
    await send(node, ["SET", "a", "1"]);
    expect(await server.command("GET", "a")).toBeNull();
    expect(node.name).toMatch(/\/2$/);
  });

  it("rejects with a clear error while the client subscribes over RESP2", async () => {
    const { client, node } = await connect(resp3 ? { protocol: 2 } : {});
    await client.subscribe("news");
    expect(await outcome(send(node, ["SET", "a", "1"]))).toMatchObject({
      message: expect.stringContaining("Connection in subscriber mode"),
    });
    await client.unsubscribe("news");
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
  });

  it("never uses quit(), and leaves the client as open as it was", async () => {
    const { client, node } = await connect();
    const quit = vi.spyOn(client, "quit");
    await send(node, ["GET", "a"]);
    expect(quit).not.toHaveBeenCalled();
    expect(client.status).toBe("ready");
    expect(await client.incr("n")).toBe(1);
    expect(client.options.enableAutoPipelining).toBe(false);
  });
});

describe.each(drivers.filter(({ resp3 }) => resp3))("$driver over RESP3", ({ Redis }) => {
  it("works while the client subscribes", async () => {
    const client = closing(new Redis(server.port));
    const node = ioredisNode(client);
    await client.subscribe("news");
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
  });
});
