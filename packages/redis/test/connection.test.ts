import { getEventListeners } from "node:events";
import {
  freePort,
  outcome,
  type RealServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { nodeRedisNode } from "../src/index.ts";
import { closing, drivers, pause, send, soon } from "./drivers.ts";

let pool: ServerPool;
let server: RealServer;

beforeAll(async () => {
  pool = await startServers(1);
  server = pool.servers[0]!;
});
afterAll(() => pool?.stop());
beforeEach(async () => {
  if (server.alive) await server.resume();
  else await server.restart();
  await server.flush();
});

describe.each(drivers)("a client of $driver", ({ createClient }) => {
  type Options = NonNullable<Parameters<typeof createClient>[0]>;
  const make = (port = server.port, options: Options = {}) => {
    const socket = { host: "127.0.0.1", port, ...soon };
    const client = closing(createClient({ ...options, socket }));
    return { client, node: nodeRedisNode(client) };
  };
  /** Connected; the promise of connect() is the user's. */
  const makeReady = async (...args: Parameters<typeof make>) => {
    const made = make(...args);
    await made.client.connect();
    return made;
  };

  describe("before its first ready", () => {
    it("is refused at once when it was never opened, with what to do", async () => {
      const { client, node } = make();
      expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toMatchObject({
        message: `not connected to 127.0.0.1:${server.port}: closed, call client.connect() first`,
        code: "NOT_SENT",
      });
      expect(client.isOpen).toBe(false);
    });

    it.each([{}, { disableOfflineQueue: true }])(
      "is waited for: connect() and a command at once: %o",
      async (options) => {
        const { client, node } = make(server.port, options);
        const connected = client.connect();
        expect(client.isReady).toBe(false);
        const replies = await Promise.all(["a", "b", "c"].map((key) => send(node, ["INCR", key])));
        expect(replies).toEqual([1, 1, 1]);
        await connected;
      },
    );

    it("rejects with the cause when it is refused, at the first error", async () => {
      const port = await freePort();
      const { client, node } = make(port);
      client.connect().catch(() => {});
      const error = await outcome(send(node, ["SET", "a", "1"]));
      expect(error).toMatchObject({
        message: expect.stringContaining(`not connected to 127.0.0.1:${port}: `),
        cause: { code: "ECONNREFUSED" },
        code: "NOT_SENT",
      });
      // Later ones do not wait for the attempts that follow.
      const again = await outcome(send(node, ["SET", "a", "1"]), 20);
      expect(again).toMatchObject({ cause: { code: "ECONNREFUSED" } });
    });

    it("works once a server is there that refused at first, and runs nothing it rejected", async () => {
      await server.kill();
      const { client, node } = make();
      client.connect().catch(() => {});
      expect(await outcome(send(node, ["SET", "a", "1"]))).toBeInstanceOf(Error);
      expect(await outcome(send(node, ["SET", "a", "1"]))).toBeInstanceOf(Error);
      await server.restart();
      await vi.waitUntil(() => client.isReady, { timeout: 10_000 });
      expect(await send(node, ["GET", "a"])).toBeNull();
    });

    it("rejects with the cause when reconnectStrategy gives up", async () => {
      const port = await freePort();
      const socket = { host: "127.0.0.1", port, reconnectStrategy: false as const };
      const client = closing(createClient({ socket }));
      const node = nodeRedisNode(client);
      client.connect().catch(() => {});
      for (let i = 0; i < 2; i++) {
        expect(await outcome(send(node, ["SET", "a", "1"]))).toMatchObject({
          message: expect.stringMatching(/: .*ECONNREFUSED.*, call client\.connect\(\) first$/),
          cause: { code: "ECONNREFUSED" },
        });
      }
    });

    it("ends the wait when it is destroyed", async () => {
      await server.hang();
      const { client, node } = make();
      client.connect().catch(() => {});
      const sent = outcome(send(node, ["SET", "a", "1"]));
      await pause(50);
      client.destroy();
      expect(await sent).toMatchObject({ message: expect.stringContaining("call client.connect") });
    });

    it("never sends a command whose signal aborted during the wait", async () => {
      await server.hang();
      const { client, node } = make();
      client.connect().catch(() => {});
      const controller = new AbortController();
      const sent = send(node, ["SET", "a", "1"], controller.signal);
      expect(await outcome(sent, 100)).toBe("pending");
      const reason = new Error("no more");
      controller.abort(reason);
      await server.resume();
      await expect(sent).rejects.toBe(reason);
      expect(await send(node, ["GET", "a"])).toBeNull();
    });

    it("puts no listener on the signal, however many commands wait", async () => {
      const { client, node } = make();
      client.connect().catch(() => {});
      const { signal } = new AbortController();
      const sent = [send(node, ["GET", "a"], signal), send(node, ["GET", "b"], signal)];
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
      await Promise.all(sent);
    });

    it("waits ten seconds at most for a server that accepts and never greets", async () => {
      await server.hang();
      const { client, node } = make();
      client.connect().catch(() => {});
      vi.useFakeTimers({ toFake: ["setTimeout"] });
      try {
        const sent = send(node, ["GET", "a"]);
        const refused = expect(sent).rejects.toMatchObject({ code: "NOT_SENT" });
        await vi.advanceTimersByTimeAsync(10_000);
        await refused;
      } finally {
        vi.useRealTimers();
      }
      expect(await outcome(send(node, ["GET", "a"]), 20)).toMatchObject({ code: "NOT_SENT" });
      await server.resume();
      await vi.waitUntil(() => client.isReady, { timeout: 10_000 });
      expect(await send(node, ["GET", "a"])).toBeNull();
    });

    it("rejects at once with the reason when the signal has aborted before", async () => {
      const { client, node } = make();
      const reason = new Error("too late");
      const aborted = AbortSignal.abort(reason);
      expect(await outcome(send(node, ["SET", "a", "1"], aborted), 20)).toBe(reason);
      await client.connect();
      expect(await outcome(send(node, ["SET", "a", "1"], aborted), 20)).toBe(reason);
      expect(await send(node, ["GET", "a"])).toBeNull();
    });
  });

  describe("after it was lost", () => {
    it("fails fast with the cause, and recovers after a restart", async () => {
      const { client, node } = await makeReady();
      await send(node, ["SET", "a", "1"]);
      await server.kill();
      await vi.waitUntil(() => !client.isReady);
      await vi.waitFor(async () => {
        const error = await outcome(send(node, ["GET", "a"]), 20);
        expect(error).toMatchObject({ cause: { code: "ECONNREFUSED" }, code: "NOT_SENT" });
      });
      await server.restart();
      await vi.waitUntil(() => client.isReady, { timeout: 10_000 });
      expect(await send(node, ["GET", "a"])).toBeNull();
    });

    it("would queue a command and run it later by itself (the trap)", async () => {
      const { client } = await makeReady();
      await server.kill();
      await vi.waitUntil(() => !client.isReady);
      const queued = client.set("a", "1");
      expect(await outcome(queued, 100)).toBe("pending");
      await server.restart();
      await queued;
    });

    it.each([{}, { disableOfflineQueue: true }])(
      "does not execute later what it has rejected: %o",
      async (options) => {
        const { client, node } = await makeReady(server.port, options);
        await server.kill();
        await vi.waitUntil(() => !client.isReady);
        expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toBeInstanceOf(Error);
        await server.restart();
        await vi.waitUntil(() => client.isReady, { timeout: 10_000 });
        expect(await send(node, ["GET", "a"])).toBeNull();
      },
    );

    it("fails fast once it was destroyed or closed, and works again after connect()", async () => {
      const { client, node } = await makeReady();
      await send(node, ["GET", "a"]);
      client.destroy();
      const refused = { message: expect.stringContaining("call client.connect() first") };
      expect(await outcome(send(node, ["GET", "a"]), 20)).toMatchObject(refused);
      await client.connect();
      expect(await send(node, ["GET", "a"])).toBeNull();
      await client.close();
      expect(await outcome(send(node, ["GET", "a"]), 20)).toMatchObject(refused);
    });

    it("is never opened or closed by the adapter: close() hangs while a server does (the trap)", async () => {
      const { client, node } = await makeReady();
      await send(node, ["GET", "a"]);
      const used = (["connect", "close", "quit", "destroy"] as const).map((name) =>
        vi.spyOn(client, name),
      );
      await server.hang();
      const sent = outcome(send(node, ["GET", "a"]));
      await pause(30);
      for (const spy of used) expect(spy).not.toHaveBeenCalled();
      expect(await outcome(client.close(), 200)).toBe("pending");
      await server.resume();
      expect(await sent).toBeNull();
    });

    it("is used at once when it was ready already as the node was made", async () => {
      const { client } = await makeReady();
      expect(await send(nodeRedisNode(client), ["SET", "a", "1"])).toBe("OK");
    });

    it("fails fast when it was made of a ready client that is lost then", async () => {
      const { client } = await makeReady();
      const node = nodeRedisNode(client);
      await server.kill();
      await vi.waitUntil(() => !client.isReady);
      expect(await outcome(send(node, ["GET", "a"]), 50)).toMatchObject({
        message: expect.stringContaining("not connected to"),
      });
    });
  });

  describe("its listeners", () => {
    it("are one set per client, however many nodes and commands", async () => {
      const { client } = await makeReady();
      const counts = () => ["ready", "error", "end"].map((event) => client.listenerCount(event));
      const before = counts();
      for (let i = 0; i < 50; i++) await send(nodeRedisNode(client), ["GET", "a"]);
      expect(counts()).toEqual(before);
      expect(before).toEqual([1, 1, 1]);
    });

    it("keep a lost connection from ending the process, and leave the user's alone", async () => {
      const { client } = await makeReady();
      const errors: unknown[] = [];
      client.on("error", (error) => errors.push(error));
      await server.kill();
      await vi.waitUntil(() => errors.length >= 3);
      client.removeAllListeners("error");
      // The trap: without a listener the same event throws.
      expect(() => client.emit("error", new Error("lost"))).toThrow("lost");
      client.on("error", () => {});
    });
  });
});
