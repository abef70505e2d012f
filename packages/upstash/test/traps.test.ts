import {
  outcome,
  type RealServer,
  type RestServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { upstashNode } from "../src/index.ts";
import { type Config, drivers, send, serving, TOKEN } from "./drivers.ts";

const INCREMENT = "return redis.call('INCR', KEYS[1])";

let pool: ServerPool;
let server: RealServer;
let rest: RestServer;

beforeAll(async () => {
  pool = await startServers(1);
  server = pool.servers[0]!;
});
afterAll(() => pool?.stop());
beforeEach(async () => {
  await server.flush();
  rest = await serving(server);
});

const CONFIGURATIONS: Omit<Config, "url" | "token">[] = [
  {},
  { enableAutoPipelining: true },
  { enableAutoPipelining: false },
  { automaticDeserialization: false },
  { responseEncoding: false },
  { responseEncoding: "base64", automaticDeserialization: false, enableAutoPipelining: false },
  { retry: false },
  { retry: { retries: 0 } },
  { retry: { retries: 9, backoff: () => 1 } },
  { latencyLogging: true },
  { readYourWrites: false },
  { keepAlive: false },
  { cache: "force-cache" },
  { signal: AbortSignal.abort("OK") },
  { signal: () => AbortSignal.abort("OK") },
];

/** For the other entries and versions: a few that differ from each other in everything. */
const SOME_CONFIGURATIONS: typeof CONFIGURATIONS = [
  {},
  {
    enableAutoPipelining: false,
    automaticDeserialization: false,
    responseEncoding: false,
    retry: { retries: 0 },
  },
  { latencyLogging: true, readYourWrites: false, keepAlive: false, signal: AbortSignal.abort(1) },
];

describe.each(drivers)("$driver", ({ driver, make }) => {
  const connect = (config: Omit<Config, "url" | "token"> = {}) => {
    const redis = make({ url: rest.url, token: TOKEN, ...config });
    return { redis, node: upstashNode(redis) };
  };

  const configurations = driver === "@upstash/redis" ? CONFIGURATIONS : SOME_CONFIGURATIONS;
  describe.each(configurations)("configured as %o", (config) => {
    it("answers each command with one request, as Redis does, and prints nothing", async () => {
      const printed = (["log", "warn", "error"] as const).map((kind) => vi.spyOn(console, kind));
      const { node } = connect(config);
      const results = await Promise.allSettled([
        send(node, ["SET", "text", "123"]),
        send(node, ["EVAL", INCREMENT, "1", "n"]),
        send(node, ["EVALSHA", "0".repeat(40), "1", "n"]),
        send(node, ["EVAL", "return '123'", "1", "n"]),
        send(node, ["EVAL", "return 'null'", "1", "n"]),
        send(node, ["EVAL", "return 'T0s='", "1", "n"]),
        send(node, ["EVAL", "return 'käse'", "1", "n"]),
        send(node, ["EVAL", "return ''", "1", "n"]),
        send(node, ["GET", "missing"]),
      ]);
      expect(results.map((result) => (result.status === "fulfilled" ? result.value : 0))).toEqual([
        ...["OK", 1, 0, "123", "null", "T0s=", "käse", "", null],
      ]);
      expect(results[2]).toMatchObject({ reason: { message: expect.stringMatching(/^NOSCRIPT/) } });
      expect(rest).toMatchObject({ requests: 9, commands: 9 });
      for (const spy of printed) expect(spy).not.toHaveBeenCalled();
      vi.restoreAllMocks();
    });
  });

  describe("when the reply is lost", () => {
    it("would send the command again by itself (the trap)", async () => {
      const { redis } = connect({ retry: { retries: 3, backoff: () => 1 } });
      rest.dropReplies(1);
      expect(await redis.eval(INCREMENT, ["n"], [])).toBe(2);
    });

    it.each([{}, { retry: { retries: 3, backoff: () => 1 } }, { retry: false as const }])(
      "rejects at once and does not send it again: %o",
      async (config) => {
        const { node } = connect(config);
        rest.dropReplies(1);
        const error = await outcome(send(node, ["EVAL", INCREMENT, "1", "n"]), 200);
        expect(error).toBeInstanceOf(Error);
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect(rest.requests).toBe(1);
        expect(await send(node, ["GET", "n"])).toBe("1");
      },
    );
  });

  describe("with a signal in its configuration that aborts", () => {
    it.each([1, "OK", "1"])("never takes the reason %o for a reply", async (reason) => {
      const controller = new AbortController();
      const { node } = connect({ signal: controller.signal, retry: { retries: 0 } });
      rest.dropReplies(2);
      rest.delay(30, { of: "requests" });
      const sent = outcome(send(node, ["EVAL", INCREMENT, "1", "n"]));
      controller.abort(reason);
      expect(await sent).toBeInstanceOf(Error);
      expect(await outcome(send(node, ["EVAL", INCREMENT, "1", "n"]))).toBeInstanceOf(Error);
      // It was for the user's calls: a lock can still be released.
      expect(await send(node, ["EVAL", INCREMENT, "1", "n"])).toBe(3);
    });
  });

  it("rejects with the reason when the command's own signal aborts", async () => {
    const { node } = connect();
    const controller = new AbortController();
    rest.halfOpen();
    const sent = outcome(send(node, ["INCR", "n"], controller.signal));
    await vi.waitUntil(() => rest.requests === 1);
    controller.abort("OK");
    // Thrown, or `outcome` could not tell: see the next line.
    expect(await sent).toBe("OK");
    await expect(send(node, ["INCR", "n"], controller.signal)).rejects.toBe("OK");
    expect(rest.requests).toBe(1);
  });

  it("lets many commands wait on one signal without a warning", async () => {
    const warned = vi.spyOn(process, "emitWarning");
    const { node } = connect();
    const { signal } = new AbortController();
    rest.halfOpen();
    const sent = Array.from({ length: 30 }, () => send(node, ["INCR", "n"], signal));
    await vi.waitUntil(() => rest.requests === 30);
    rest.heal();
    expect(await Promise.all(sent)).toHaveLength(30);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it("leaves the time limit to the core: the command stays pending", async () => {
    const { node } = connect();
    rest.halfOpen();
    const sent = send(node, ["SET", "a", "1"]);
    expect(await outcome(sent, 150)).toBe("pending");
    rest.heal();
    expect(await sent).toBe("OK");
  });

  it("uses a token that was changed later", async () => {
    const { redis, node } = connect();
    const { client } = redis as unknown as { client: { headers: Record<string, string> } };
    client.headers["authorization"] = "Bearer wrong-token-for-now";
    expect(await outcome(send(node, ["GET", "a"]))).toMatchObject({
      message: expect.stringMatching(/^HTTP 401: WRONGPASS/),
    });
    client.headers["authorization"] = `Bearer ${TOKEN}`;
    expect(await send(node, ["GET", "a"])).toBeNull();
  });

  it("leaves the user's own commands as they were", async () => {
    const { redis, node } = connect();
    await send(node, ["SET", "a", "123"]);
    expect(await redis.get("a")).toBe(123);
    await redis.set("b", { c: 1 });
    expect(await redis.get("b")).toEqual({ c: 1 });
    expect(await send(node, ["GET", "b"])).toBe('{"c":1}');
  });
});

describe("the client's own handling of a signal", () => {
  const newest = drivers[0].make;
  it.each([1, "OK"])("takes the abort's reason %o for the reply (the trap)", async (reason) => {
    const controller = new AbortController();
    const redis = newest({ url: rest.url, token: TOKEN, signal: controller.signal });
    rest.halfOpen();
    const sent = redis.exec(["SET", "a", "1", "NX"]);
    await vi.waitUntil(() => rest.requests === 1);
    controller.abort(reason);
    expect(await sent).toBe(reason);
  });
});

describe("what is passed to fetch", () => {
  const fetched = () => vi.mocked(fetch).mock.calls[0]![1] as RequestInit & Record<string, unknown>;
  beforeEach(() => void vi.spyOn(globalThis, "fetch"));
  afterEach(() => void vi.restoreAllMocks());

  it("keeps caches out, but names no mode where the client names none", async () => {
    const [node, , cloudflare] = drivers;
    await send(upstashNode(node.make({ url: rest.url, token: TOKEN, cache: "force-cache" })), [
      ...(["GET", "a"] as const),
    ]);
    expect(fetched().cache).toBe("no-store");
    vi.mocked(fetch).mockClear();
    await send(upstashNode(cloudflare.make({ url: rest.url, token: TOKEN })), ["GET", "a"]);
    expect(fetched().cache).toBeUndefined();
  });

  it("is the agent, the backend and keepAlive of the client, and its telemetry headers", async () => {
    const agent = {};
    const [node, , , fastly] = drivers;
    const config = { url: rest.url, token: TOKEN, keepAlive: false, agent };
    await send(upstashNode(node.make(config)), ["GET", "a"]);
    expect(fetched()).toMatchObject({ keepalive: false, agent });
    expect(fetched().headers).toMatchObject({ "Upstash-Telemetry-Sdk": expect.any(String) });
    vi.mocked(fetch).mockClear();
    await send(upstashNode(fastly.make({ url: rest.url, token: TOKEN })), ["GET", "a"]);
    expect(fetched()).toMatchObject({ keepalive: true, backend: "database" });
  });
});
