import { getEventListeners, once } from "node:events";
import {
  freePort,
  outcome,
  type RealServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ioredisNode } from "../src/index.ts";
import { closing, drivers, send, soon } from "./drivers.ts";

let pool: ServerPool;
let server: RealServer;
const printed = vi.spyOn(console, "error").mockImplementation(() => {});

beforeAll(async () => {
  pool = await startServers(1);
  server = pool.servers[0]!;
});
afterAll(() => pool?.stop());
beforeEach(async () => {
  printed.mockClear();
  if (server.alive) await server.resume();
  else await server.restart();
  await server.flush();
});
afterEach(() => expect(printed).not.toHaveBeenCalled());

describe.each(drivers)("before its first ready, $driver", ({ Redis }) => {
  it("is waited for: new Redis() and a command at once", async () => {
    const client = closing(new Redis(server.port));
    const node = ioredisNode(client);
    expect(client.status).toBe("connecting");
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
  });

  it("is started when it is lazy, once for many commands", async () => {
    const client = closing(new Redis(server.port, { lazyConnect: true }));
    const connect = vi.spyOn(client, "connect");
    const node = ioredisNode(client);
    expect(client.status).toBe("wait");
    const replies = await Promise.all(["a", "b", "c"].map((key) => send(node, ["INCR", key])));
    expect(replies).toEqual([1, 1, 1]);
    expect(connect).toHaveBeenCalledTimes(1);
  });

  it("is not started before there is a command", async () => {
    const client = closing(new Redis(server.port, { lazyConnect: true }));
    ioredisNode(client);
    await new Promise((resolve) => setImmediate(resolve));
    expect(client.status).toBe("wait");
  });

  it.each([{ lazyConnect: true }, { lazyConnect: false }])(
    "rejects with the cause when it is refused, at the first error: %o",
    async (options) => {
      const port = await freePort();
      const client = closing(new Redis(port, "127.0.0.1", options));
      const node = ioredisNode(client);
      const error = await outcome(send(node, ["SET", "a", "1"]));
      expect(error).toMatchObject({
        message: expect.stringContaining(`not connected to 127.0.0.1:${port}: `),
        cause: { code: "ECONNREFUSED" },
      });
      // Later ones do not wait for the attempts that follow.
      const again = await outcome(send(node, ["SET", "a", "1"]), 20);
      expect(again).toMatchObject({ cause: { code: "ECONNREFUSED" } });
    },
  );

  it("works once a server is there that refused at first", async () => {
    await server.kill();
    const client = closing(new Redis(server.port, soon));
    const node = ioredisNode(client);
    expect(await outcome(send(node, ["GET", "a"]))).toBeInstanceOf(Error);
    await server.restart();
    await vi.waitUntil(() => client.status === "ready", { timeout: 10_000 });
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
  });

  it("ends the wait when it is disconnected", async () => {
    const client = closing(new Redis(server.port));
    const node = ioredisNode(client);
    const sent = outcome(send(node, ["SET", "a", "1"]));
    client.disconnect();
    expect(await sent).toMatchObject({ message: expect.stringContaining(": ") });
  });

  it("never sends a command whose signal aborted during the wait", async () => {
    await server.hang();
    const client = closing(new Redis(server.port));
    const node = ioredisNode(client);
    const controller = new AbortController();
    const sent = send(node, ["SET", "a", "1"], controller.signal);
    expect(await outcome(sent, 100)).toBe("pending");
    const reason = new Error("no more");
    controller.abort(reason);
    await server.resume();
    await expect(sent).rejects.toBe(reason);
    await vi.waitUntil(() => client.status === "ready", { timeout: 10_000 });
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("puts no listener on the signal, however many commands wait", async () => {
    const client = closing(new Redis(server.port));
    const { signal } = new AbortController();
    const node = ioredisNode(client);
    const sent = [send(node, ["GET", "a"], signal), send(node, ["GET", "b"], signal)];
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    await Promise.all(sent);
  });

  it("waits ten seconds at most for a server that accepts and never greets", async () => {
    await server.hang();
    const client = closing(new Redis(server.port));
    const node = ioredisNode(client);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const sent = send(node, ["GET", "a"]);
      const refused = expect(sent).rejects.toMatchObject({ code: "NOT_SENT" });
      await vi.advanceTimersByTimeAsync(10_000);
      await refused;
    } finally {
      vi.useRealTimers();
      await server.resume();
    }
    expect(await outcome(send(node, ["GET", "a"]), 20)).not.toBe("pending");
  });

  it("rejects at once with the reason when the signal has aborted before", async () => {
    const client = closing(new Redis(server.port, { lazyConnect: true }));
    const node = ioredisNode(client);
    const reason = new Error("too late");
    expect(await outcome(send(node, ["SET", "a", "1"], AbortSignal.abort(reason)), 20)).toBe(
      reason,
    );
    expect(client.status).toBe("wait");
    await client.connect();
    expect(await outcome(send(node, ["SET", "a", "1"], AbortSignal.abort(reason)), 20)).toBe(
      reason,
    );
    expect(await send(node, ["GET", "a"])).toBeNull();
  });
});

describe.each(drivers)("after it was lost, a connection of $driver", ({ Redis }) => {
  it("fails fast with status and cause, and recovers after a restart", async () => {
    const client = closing(new Redis(server.port, soon));
    const node = ioredisNode(client);
    await send(node, ["SET", "a", "1"]);
    await server.kill();
    await vi.waitUntil(() => client.status !== "ready");
    await vi.waitFor(async () => {
      const error = await outcome(send(node, ["GET", "a"]), 20);
      expect(error).toMatchObject({
        message: expect.stringMatching(/^not connected to localhost:\d+: /),
        cause: { code: "ECONNREFUSED" },
      });
    });
    await server.restart();
    await vi.waitUntil(() => client.status === "ready", { timeout: 10_000 });
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("does not execute later what it has rejected", async () => {
    const client = closing(new Redis(server.port, soon));
    const node = ioredisNode(client);
    await send(node, ["GET", "a"]);
    client.disconnect(true);
    await vi.waitUntil(() => client.status === "reconnecting");
    expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toBeInstanceOf(Error);
    await vi.waitUntil(() => client.status === "ready");
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("fails fast while it is closing, although its status is still ready", async () => {
    const client = closing(new Redis(server.port, soon));
    const node = ioredisNode(client);
    await send(node, ["GET", "a"]);
    await server.hang();
    client.disconnect(true);
    expect(client.status).toBe("ready");
    expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toMatchObject({
      message: expect.stringContaining("not connected"),
    });
  });

  it("fails fast when it was ended, and works again after connect()", async () => {
    const client = closing(new Redis(server.port));
    const node = ioredisNode(client);
    await send(node, ["GET", "a"]);
    client.disconnect();
    await vi.waitUntil(() => client.status === "end");
    expect(await outcome(send(node, ["GET", "a"]), 20)).toMatchObject({
      message: expect.stringContaining(": "),
    });
    await client.connect();
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("fails fast when it was reconnecting already as the node was made", async () => {
    const port = await freePort();
    const client = closing(new Redis(port, { retryStrategy: () => 60_000 }));
    client.on("error", () => {});
    await vi.waitUntil(() => client.status === "reconnecting");
    const node = ioredisNode(client);
    expect(await outcome(send(node, ["GET", "a"]), 20)).toMatchObject({
      message: expect.stringContaining(": "),
    });
  });

  it("leaves no timer behind for each command that is refused", async () => {
    const port = await freePort();
    const client = closing(new Redis(port, "127.0.0.1", { retryStrategy: () => 60_000 }));
    const node = ioredisNode(client);
    await outcome(send(node, ["GET", "a"]));
    const timers = vi.spyOn(globalThis, "setTimeout");
    const sent = Array.from({ length: 50 }, () => send(node, ["GET", "a"]));
    await Promise.allSettled(sent);
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
  });

  it("is used at once when it was ready already as the node was made", async () => {
    const client = closing(new Redis(server.port));
    await once(client, "ready");
    expect(await send(ioredisNode(client), ["SET", "a", "1"])).toBe("OK");
  });
});

describe.each(drivers)("the listeners on $driver", ({ Redis }) => {
  it("are one set per client, however many nodes and commands", async () => {
    const client = closing(new Redis(server.port));
    await once(client, "ready");
    const counts = () =>
      ["ready", "error", "close", "end"].map((event) => client.listenerCount(event));
    const before = counts();
    for (let i = 0; i < 50; i++) await send(ioredisNode(client), ["GET", "a"]);
    const added = counts().map((count, i) => count - before[i]!);
    expect(added).toEqual([1, 1, 1, 1]);
  });

  it("keep ioredis from flooding the console, and leave the user's listeners alone", async () => {
    const port = await freePort();
    const client = closing(new Redis(port, "127.0.0.1", { retryStrategy: () => 5 }));
    ioredisNode(client);
    const errors: unknown[] = [];
    client.on("error", (error) => errors.push(error));
    await vi.waitUntil(() => errors.length >= 5);
    expect(errors[0]).toMatchObject({ code: "ECONNREFUSED" });
    expect(printed).not.toHaveBeenCalled();
  });
});
