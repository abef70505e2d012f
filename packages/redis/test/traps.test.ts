import { type Command, Redlock } from "@redlatch/core";
import {
  outcome,
  type RealServer,
  type ServerPool,
  startServers,
  type TcpProxy,
  tcpProxy,
} from "@redlatch/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { nodeRedisNode } from "../src/index.ts";
import { closing, drivers, pause, send, soon } from "./drivers.ts";

const INCREMENT = "return redis.call('INCR', KEYS[1])";
const LOOK = "return redis.call('GET', KEYS[1]) or ''";

let pool: ServerPool;
let server: RealServer;
let proxy: TcpProxy;

beforeAll(async () => {
  pool = await startServers(1);
  server = pool.servers[0]!;
  proxy = await tcpProxy(server);
});
afterAll(async () => {
  await proxy?.stop();
  await pool?.stop();
});
beforeEach(async () => {
  await proxy.heal();
  await server.resume();
  await server.flush();
});

describe.each(drivers)("$driver", ({ driver, createClient, RESP_TYPES }) => {
  type Options = NonNullable<Parameters<typeof createClient>[0]>;
  async function connect(options: Options = {}) {
    const socket = { host: proxy.host, port: proxy.port, ...soon };
    const client = closing(createClient({ ...options, socket }));
    const node = nodeRedisNode(client);
    await client.connect();
    return { client, node };
  }
  const ready = (client: { isReady: boolean }) =>
    vi.waitUntil(() => client.isReady, { timeout: 10_000 });

  describe("when the connection drops while a command is in flight", () => {
    it.each([{}, { disableOfflineQueue: true }])(
      "rejects the command at once and runs it at most once: %o",
      async (options) => {
        const { client, node } = await connect(options);
        await server.hang();
        const command: Command = ["EVAL", INCREMENT, "1", "n"];
        const sent = outcome(send(node, command));
        await pause(30);
        proxy.cut();
        const error = await outcome(sent, 200);
        expect(error).toMatchObject({
          message: expect.stringContaining("not connected to"),
          cause: expect.any(Error),
        });
        // Nobody knows: what the core has to undo.
        expect(error).not.toHaveProperty("code");
        // Somebody may want to send it again.
        expect(command).toEqual(["EVAL", INCREMENT, "1", "n"]);
        await server.resume();
        await ready(client);
        expect(await send(node, ["EVAL", INCREMENT, "1", "m"])).toBe(1);
        expect(Number(await send(node, ["GET", "n"]))).toBeLessThanOrEqual(1);
      },
    );

    it("rejects a command that was executed and whose reply was lost, and runs it once", async () => {
      const { client, node } = await connect();
      proxy.dropReplies(1);
      expect(await outcome(send(node, ["EVAL", INCREMENT, "1", "n"]))).toBeInstanceOf(Error);
      await ready(client);
      expect(await send(node, ["GET", "n"])).toBe("1");
    });

    it("rejects what was not written yet, too, where the driver would write it later (the trap)", async () => {
      const { client, node } = await connect();
      // A closed socket says so only in a later turn, and commands are written at the end of this one.
      const lose = () => client.emit("error", new Error("lost"));
      const isReady = vi.spyOn(client as { isReady: boolean }, "isReady", "get");
      isReady.mockReturnValueOnce(true).mockReturnValueOnce(true).mockReturnValue(false);
      const ours = outcome(send(node, ["INCR", "ours"]));
      await Promise.resolve();
      const theirs = client.incr("theirs");
      lose();
      isReady.mockRestore();
      expect(await ours).toMatchObject({ message: expect.stringContaining("not connected") });
      expect(await theirs).toBe(1);
      expect(await server.command("GET", "ours")).toBeNull();
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

    it("would not be helped by timeout and abortSignal once a command is written (the trap)", async () => {
      const { client } = await connect({ commandOptions: { timeout: 30 } });
      await server.hang();
      const controller = new AbortController();
      const sent = client.withAbortSignal(controller.signal).set("a", "1");
      await pause(100);
      controller.abort();
      expect(await outcome(sent, 50)).toBe("pending");
      await server.resume();
      expect(await sent).toBe("OK");
    });

    it("does not call off what is written already: a command whose signal aborts runs", async () => {
      const { node } = await connect();
      await server.hang();
      const controller = new AbortController();
      const sent = send(node, ["SET", "a", "1"], controller.signal);
      await pause(30);
      controller.abort(new Error("no more"));
      expect(await outcome(sent, 50)).toBe("pending");
      await server.resume();
      expect(await sent).toBe("OK");
    });
  });

  describe("whatever the client's command options are", () => {
    it("is not aborted by a signal of the client's own", async () => {
      const { client } = await connect();
      const aborted = nodeRedisNode(client.withAbortSignal(AbortSignal.abort()));
      expect(await send(aborted, ["SET", "a", "1"])).toBe("OK");
    });

    it("would lose what follows two dropped commands by itself, in node-redis 5 (the trap)", async () => {
      const { client } = await connect();
      const controllers = [new AbortController(), new AbortController()];
      for (const { signal } of controllers) {
        client
          .withAbortSignal(signal)
          .get("a")
          .catch(() => {});
      }
      for (const controller of controllers) controller.abort();
      expect(await outcome(client.get("a"), 200)).toBe(driver.endsWith("6") ? null : "pending");
    });

    it("loses nothing where several signals abort at once", async () => {
      const { client, node } = await connect();
      const controllers = [new AbortController(), new AbortController(), new AbortController()];
      const sent = controllers.map(({ signal }) => send(node, ["INCR", "n"], signal));
      for (const controller of controllers) controller.abort("no more");
      expect(await Promise.all(sent)).toEqual([1, 2, 3]);
      expect(await client.get("n")).toBe("3");
    });

    it("is not timed out by a timeout of the client's own", async () => {
      const { node } = await connect({ commandOptions: { timeout: 1 } });
      // From there, timers come before what is written.
      await new Promise((resolve) => setImmediate(resolve));
      const sent = send(node, ["SET", "a", "1"]);
      const until = performance.now() + 20;
      while (performance.now() < until);
      expect(await sent).toBe("OK");
    });

    it("works with asap(), which turns the order of commands around", async () => {
      const { client } = await connect();
      const node = nodeRedisNode(client.asap());
      const replies = await Promise.all(Array.from({ length: 5 }, () => send(node, ["INCR", "n"])));
      expect((replies as number[]).sort()).toEqual([1, 2, 3, 4, 5]);
    });
  });

  describe.each([2, 3] as const)("over RESP%i", (RESP) => {
    const mappings = {
      none: {},
      "Buffers and text numbers": {
        [RESP_TYPES.BLOB_STRING]: Buffer,
        [RESP_TYPES.SIMPLE_STRING]: Buffer,
        [RESP_TYPES.NUMBER]: String,
      },
    };
    it.each(Object.entries(mappings))(
      "locks, extends, looks and releases; type mapping: %s",
      async (_, typeMapping) => {
        const { client } = await connect({ RESP, commandOptions: { typeMapping } as never });
        for (const of of [client, client.withTypeMapping(typeMapping as never)]) {
          const redlock = new Redlock([nodeRedisNode(of)], { owner: "me" });
          const lease = await redlock.acquire("a");
          await lease.extend();
          expect((await redlock.inspect("a")).nodes[0]).toMatchObject({
            state: "held",
            owner: "me",
          });
          expect(await redlock.tryAcquire("a")).toBeNull();
          expect(await lease.release()).toBe("released");
          await redlock.close();
        }
      },
    );

    it("answers each command and each error separately", async () => {
      const { node } = await connect({ RESP });
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
    });
  });

  it("rejects with a clear error while the client subscribes over RESP2", async () => {
    const { client, node } = await connect({ RESP: 2 });
    await client.subscribe("news", () => {});
    expect(await outcome(send(node, ["EVAL", LOOK, "1", "a"]))).toMatchObject({
      message: expect.stringContaining("SUBSCRIBE"),
    });
    await client.unsubscribe("news");
    // As bytes, which the core takes as well.
    expect(String(await send(node, ["SET", "a", "1"]))).toBe("OK");
  });

  it("works while the client subscribes over RESP3", async () => {
    const { client, node } = await connect({ RESP: 3 });
    await client.subscribe("news", () => {});
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
  });

  it("passes on that the queue is full", async () => {
    const { client, node } = await connect({ commandsQueueMaxLength: 20 });
    await server.hang();
    const theirs = Array.from({ length: 20 }, () => client.incr("theirs"));
    expect(await outcome(send(node, ["SET", "a", "2"]))).toMatchObject({
      message: expect.stringContaining("queue is full"),
    });
    await server.resume();
    await Promise.all(theirs);
  });

  it("goes on when the client tells of an error that cost no connection", async () => {
    const { client, node } = await connect();
    client.emit("error", new Error("of a ping"));
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
  });

  it("works in the client's database, and leaves the client as it was", async () => {
    const { client, node } = await connect({ database: 2 });
    await send(node, ["SET", "a", "1"]);
    expect(await server.command("GET", "a")).toBeNull();
    expect(await client.get("a")).toBe("1");
    expect(node.name).toMatch(/\/2$/);
    expect(client.isReady).toBe(true);
  });

  it("is refused as a TypeError of the driver's when an argument is no string (the trap)", async () => {
    const { client, node } = await connect();
    const sent = node.send(["SET", "a", 1 as never], {
      key: "a",
      signal: new AbortController().signal,
    });
    expect(await outcome(sent)).toBeInstanceOf(TypeError);
    expect(await client.get("a")).toBeNull();
  });
});
