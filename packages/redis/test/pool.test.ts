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

let servers: ServerPool;
let server: RealServer;
let proxy: TcpProxy;

beforeAll(async () => {
  servers = await startServers(1);
  server = servers.servers[0]!;
  proxy = await tcpProxy(server);
});
afterAll(async () => {
  await proxy?.stop();
  await servers?.stop();
});
beforeEach(async () => {
  await proxy.heal();
  await server.resume();
  await server.flush();
});

describe.each(drivers)("a pool of $driver", ({ createClientPool }) => {
  type Options = NonNullable<Parameters<typeof createClientPool>[1]>;
  const make = (options?: Partial<Options>, reconnectStrategy = soon.reconnectStrategy) => {
    const socket = { host: proxy.host, port: proxy.port, reconnectStrategy };
    const client = closing(createClientPool({ socket }, options as Options));
    return { client, node: nodeRedisNode(client) };
  };

  it("is refused at once when it was never opened or was destroyed, with what to do", async () => {
    const { client, node } = make();
    const refused = {
      message: expect.stringMatching(
        /^not connected to node-redis-\d+: closed, call client\.connect\(\) /,
      ),
    };
    expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toMatchObject(refused);
    await client.connect();
    expect(await send(node, ["SET", "a", "1"])).toBe("OK");
    client.destroy();
    expect(await outcome(send(node, ["SET", "a", "1"]), 20)).toMatchObject(refused);
  });

  it.each([{}, { minimum: 1, maximum: 1 }])(
    "is waited for before its first connection: %o",
    async (options) => {
      const { client, node } = make(options);
      const connected = client.connect();
      const sent = Array.from({ length: 10 }, () => send(node, ["EVAL", INCREMENT, "1", "n"]));
      const replies = (await Promise.all(sent)) as number[];
      expect(replies.sort((a, b) => a - b).at(-1)).toBe(10);
      await connected;
    },
  );

  it("rejects with the cause when it is refused, without a client more for each command", async () => {
    await proxy.refuse();
    const { client, node } = make();
    client.connect().catch(() => {});
    for (let i = 0; i < 20; i++) {
      expect(await outcome(send(node, ["SET", "a", "1"]))).toMatchObject({
        message: expect.stringContaining("not connected to"),
        cause: { code: "ECONNREFUSED" },
      });
    }
    expect(client.totalClients).toBeLessThan(5);
    await proxy.listen();
    await vi.waitFor(async () => expect(await send(node, ["GET", "a"])).toBeNull(), 10_000);
  });

  it("rejects the command in flight at once when the connection drops, and runs it once", async () => {
    const { client, node } = make();
    await client.connect();
    proxy.dropReplies(1);
    expect(await outcome(send(node, ["EVAL", INCREMENT, "1", "n"]))).toMatchObject({
      message: expect.stringContaining("not connected to"),
    });
    await vi.waitFor(async () => expect(await send(node, ["GET", "n"])).toBe("1"), 10_000);
  });

  it("fails fast after it was lost, recovers, and runs nothing later", async () => {
    const { client, node } = make({ minimum: 3 });
    await client.connect();
    for (let i = 0; i < 3; i++) await send(node, ["GET", "a"]);
    await proxy.refuse();
    await pause(30);
    for (let i = 0; i < 5; i++) {
      expect(await outcome(send(node, ["SET", "a", "1"]), 50)).toBeInstanceOf(Error);
    }
    await proxy.listen();
    await vi.waitFor(async () => expect(await send(node, ["GET", "a"])).toBeNull(), 10_000);
    await pause(200);
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("fails fast while a lost connection is not tried again", async () => {
    const { client, node } = make({ minimum: 2 }, () => 60_000);
    await client.connect();
    await proxy.refuse();
    await pause(30);
    for (let i = 0; i < 4; i++) {
      expect(await outcome(send(node, ["SET", "a", "1"]), 50)).toMatchObject({
        message: expect.stringContaining("not connected to"),
      });
    }
  });

  it("waits while the clients are busy, also after an error that is over", async () => {
    const { client, node } = make({ minimum: 1, maximum: 1 });
    await client.connect();
    client.emit("error", new Error("of long ago"));
    await send(node, ["SET", "a", "1"]);
    const busy = client.execute(() => pause(100));
    expect(await send(node, ["GET", "a"])).toBe("1");
    await busy;
  });

  it("rejects with the driver's error when no client is free in time, and sends nothing later", async () => {
    const { client, node } = make({ minimum: 1, maximum: 1, acquireTimeout: 50 });
    await client.connect();
    const busy = client.execute(() => pause(200));
    expect(await outcome(send(node, ["SET", "a", "1"]))).toMatchObject({
      message: expect.stringContaining("Timeout waiting for a client"),
    });
    await busy;
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("never sends what was waiting for a client when its signal aborted", async () => {
    const { client, node } = make({ minimum: 1, maximum: 1 });
    await client.connect();
    const busy = client.execute(() => pause(100));
    const controller = new AbortController();
    const sent = outcome(send(node, ["SET", "a", "1"], controller.signal));
    const reason = new Error("no more");
    controller.abort(reason);
    await busy;
    expect(await sent).toBe(reason);
    expect(await send(node, ["GET", "a"])).toBeNull();
    await vi.waitUntil(() => client.idleClients === 1);
  });

  it("leaves the time limit to the core on a hung server", async () => {
    const { client, node } = make();
    await client.connect();
    await server.hang();
    const sent = send(node, ["SET", "a", "1"]);
    expect(await outcome(sent, 100)).toBe("pending");
    await server.resume();
    expect(await sent).toBe("OK");
  });
});
