import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { pollUntil, type ServerPool, startServers, type TcpProxy, tcpProxy } from "../src/index.ts";

describe("the proxy", () => {
  let pool: ServerPool;
  let proxy: TcpProxy;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    pool = await startServers(1);
  });
  afterAll(() => pool?.stop());
  beforeEach(async () => {
    await pool.servers[0]!.flush();
    proxy = await tcpProxy(pool.servers[0]!);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await proxy.stop();
  });

  async function connect(): Promise<Socket> {
    const socket = createConnection({ host: proxy.host, port: proxy.port });
    sockets.push(socket);
    await once(socket, "connect");
    socket.on("error", () => {});
    return socket;
  }

  /** Inline commands are enough here, and so is taking what arrives first for the whole reply. */
  async function ask(socket: Socket, command: string): Promise<string> {
    socket.write(`${command}\r\n`);
    return answer(socket);
  }

  function answer(socket: Socket): Promise<string> {
    return new Promise((resolve) => {
      socket.once("data", (chunk) => resolve(String(chunk).trim()));
      socket.once("close", () => resolve("closed"));
    });
  }

  const counter = () => pool.servers[0]!.command("GET", "counter");

  it("is transparent without a fault", async () => {
    const socket = await connect();
    expect(await ask(socket, "PING")).toBe("+PONG");
    expect(proxy.connections).toBe(1);
    expect(proxy.url).toBe(`redis://127.0.0.1:${proxy.port}`);
    socket.end();
    await pollUntil("the connection is gone", () => proxy.connections === 0);
  });

  it("throttles to so many bytes per second, until healed", async () => {
    const socket = await connect();
    await ask(socket, "PING");
    proxy.throttle(100);
    const startMs = performance.now();
    // 6 bytes there and 7 back.
    expect(await ask(socket, "PING")).toBe("+PONG");
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(125);
    await proxy.heal();
    const healedMs = performance.now();
    for (let count = 0; count < 5; count++) await ask(socket, "PING");
    expect(performance.now() - healedMs).toBeLessThan(5 * 130);
  });

  it("carries large requests and replies whole", async () => {
    const value = "x".repeat(3_000_000);
    await pool.servers[0]!.command("SET", "large", value);
    const socket = await connect();
    let received = 0;
    socket.on("data", (chunk) => {
      received += chunk.length;
    });
    socket.write("GET large\r\n");
    await pollUntil("everything arrived", () => received >= value.length + 12);
    expect(received).toBe("$3000000\r\n".length + value.length + 2);
  });

  it("delays replies, in order, while the server executes at once", async () => {
    const socket = await connect();
    proxy.delay(200);
    const start = performance.now();
    const reply = ask(socket, "INCR counter");
    await pollUntil("the server executed", counter, { timeoutMs: 150 });
    expect(await reply).toBe(":1");
    expect(performance.now() - start).toBeGreaterThanOrEqual(199);
    await proxy.heal();
    expect(await ask(socket, "INCR counter")).toBe(":2");
  });

  it("never lets a reply overtake a delayed one", async () => {
    const socket = await connect();
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    proxy.delay(150);
    socket.write("INCR counter\r\n");
    await pollUntil("the server executed", counter);
    await proxy.heal();
    socket.write("INCR counter\r\n");
    await pollUntil("both replies", () => received.includes(":2"));
    expect(received).toBe(":1\r\n:2\r\n");
  });

  it("delays requests, so that the server executes late", async () => {
    const socket = await connect();
    proxy.delay(150, { of: "requests" });
    const reply = ask(socket, "INCR counter");
    expect(await counter()).toBeNull();
    expect(await reply).toBe(":1");
  });

  it("cuts all connections and accepts new ones", async () => {
    const [one, two] = [await connect(), await connect()];
    await ask(one, "PING");
    await ask(two, "PING");
    const answers = [answer(one), answer(two)];
    proxy.cut();
    expect(await Promise.all(answers)).toEqual(["closed", "closed"]);
    expect(await ask(await connect(), "PING")).toBe("+PONG");
  });

  it("swallows the reply of an executed request and cuts, as often as asked", async () => {
    proxy.dropReplies(2);
    expect(await ask(await connect(), "INCR counter")).toBe("closed");
    expect(await ask(await connect(), "INCR counter")).toBe("closed");
    expect(await counter()).toBe("2");
    expect(await ask(await connect(), "INCR counter")).toBe(":3");
  });

  it("forwards nothing while half open, and what waited when healed", async () => {
    const before = await connect();
    await ask(before, "PING");
    proxy.halfOpen();
    const after = await connect();
    const replies = [ask(before, "INCR counter"), ask(after, "INCR counter")];
    const silence = new Promise((resolve) => setTimeout(resolve, 150, "silence"));
    expect(await Promise.race([...replies, silence])).toBe("silence");
    expect(await counter()).toBeNull();
    await proxy.heal();
    expect((await Promise.all(replies)).sort()).toEqual([":1", ":2"]);
  });

  it("can lose for good what waited in a half-open connection", async () => {
    const socket = await connect();
    await ask(socket, "PING");
    proxy.halfOpen();
    const reply = ask(socket, "INCR counter");
    proxy.cut();
    expect(await reply).toBe("closed");
    await proxy.heal();
    expect(await ask(await connect(), "INCR counter")).toBe(":1");
  });

  it("refuses connections until it listens again, on the same port", async () => {
    const { port } = proxy;
    const socket = await connect();
    await ask(socket, "PING");
    const next = answer(socket);
    await proxy.refuse();
    expect(await next).toBe("closed");
    await expect(connect()).rejects.toThrow(/ECONNREFUSED/);
    await proxy.heal();
    expect(proxy.port).toBe(port);
    expect(await ask(await connect(), "PING")).toBe("+PONG");
  });

  it("passes on that the server is gone", async () => {
    const server = pool.servers[0]!;
    const socket = await connect();
    await ask(socket, "PING");
    const next = answer(socket);
    await server.kill();
    expect(await next).toBe("closed");
    expect(await answer(await connect())).toBe("closed");
    await server.restart();
    expect(await ask(await connect(), "PING")).toBe("+PONG");
  });
});
