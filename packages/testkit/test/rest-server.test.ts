import { Redis } from "@upstash/redis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  pollUntil,
  type RestServer,
  restServer,
  type ServerPool,
  startServers,
} from "../src/index.ts";

let pool: ServerPool;
let rest: RestServer;
beforeAll(async () => {
  pool = await startServers(1);
});
afterAll(() => pool?.stop());
beforeEach(async () => {
  await pool.servers[0]!.flush();
  rest = await restServer(pool.servers[0]!);
});
afterEach(() => rest.stop());

/** One request, as `fetch` sees it. */
async function post(body: unknown, { path = "", headers = {}, method = "POST" } = {}) {
  const authorization = `Bearer ${rest.token}`;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(rest.url + path, {
    method,
    headers: { authorization, ...headers },
    ...(method === "POST" && { body: text }),
  });
  const answer = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  return { status: response.status, body: isJson ? JSON.parse(answer) : answer };
}

const counter = () => pool.servers[0]!.command("GET", "counter");
const increment = () => post(["INCR", "counter"]);

describe("the REST protocol", () => {
  it("answers each type of reply", async () => {
    expect(await post(["SET", "a", "1"])).toEqual({ status: 200, body: { result: "OK" } });
    expect(await post(["GET", "a"])).toEqual({ status: 200, body: { result: "1" } });
    expect(await post(["GET", "b"])).toEqual({ status: 200, body: { result: null } });
    expect(await post(["INCR", "a"])).toEqual({ status: 200, body: { result: 2 } });
    expect(await post(["MGET", "a", "b"])).toEqual({ status: 200, body: { result: ["2", null] } });
  });

  it("takes numbers and booleans as arguments", async () => {
    expect((await post(["SET", "a", 12, "PX", 60_000])).body).toEqual({ result: "OK" });
    expect((await post(["ECHO", true])).body).toEqual({ result: "true" });
  });

  it("answers Redis' errors with status 400 and Redis' words", async () => {
    await post(["LPUSH", "list", "1"]);
    expect(await post(["GET", "list"])).toEqual({
      status: 400,
      body: { error: expect.stringMatching(/^WRONGTYPE /) },
    });
    expect(await post(["EVALSHA", "0".repeat(40), "0"])).toEqual({
      status: 400,
      body: { error: expect.stringMatching(/^NOSCRIPT /) },
    });
  });

  it("encodes strings in base64 on request, but not an OK at the top", async () => {
    const headers = { "Upstash-Encoding": "base64" };
    expect((await post(["SET", "a", "käse"], { headers })).body).toEqual({ result: "OK" });
    expect((await post(["GET", "a"], { headers })).body).toEqual({ result: "a8Okc2U=" });
    expect((await post(["PING"], { headers })).body).toEqual({ result: "UE9ORw==" });
    const nested = ["EVAL", "return {1, 'OK', {'OK'}}", "0"];
    expect((await post(nested, { headers })).body).toEqual({ result: [1, "T0s=", ["T0s="]] });
  });

  it("answers a pipeline item by item, errors among them", async () => {
    const answer = await post(
      [
        ["SET", "a", "x"],
        ["INCR", "a"],
        ["GET", "a"],
      ],
      {
        path: "/pipeline",
      },
    );
    expect(answer).toEqual({
      status: 200,
      body: [{ result: "OK" }, { error: expect.stringContaining("integer") }, { result: "x" }],
    });
  });

  it("executes a transaction as a whole, or not at all", async () => {
    const path = "/multi-exec";
    expect(
      (
        await post(
          [
            ["INCR", "a"],
            ["INCR", "a"],
          ],
          { path },
        )
      ).body,
    ).toEqual([...[{ result: 1 }, { result: 2 }]]);
    expect(await post([["INCR", "a"], ["NOSUCH"]], { path })).toEqual({
      status: 400,
      body: { error: expect.stringContaining("EXECABORT") },
    });
    expect((await post(["GET", "a"])).body).toEqual({ result: "2" });
  });

  it.each(["", "{", "{}", "[]", "[[]]", '["GET", {}]', '"GET"', "null"])(
    "answers 400 to what is no command: %s",
    async (body) => {
      expect(await post(body)).toEqual({ status: 400, body: { error: expect.any(String) } });
      expect(rest.commands).toBe(0);
    },
  );

  it("answers 401 without the right token, 404 and 405 to what it does not serve", async () => {
    const headers = { authorization: "Bearer wrong" };
    expect((await post(["PING"], { headers })).status).toBe(401);
    expect((await post(["PING"], { path: "/elsewhere" })).status).toBe(404);
    expect((await post(["PING"], { method: "GET" })).status).toBe(405);
    expect(rest.commands).toBe(0);
    expect(rest.requests).toBe(3);
  });

  it("uses the token and the server's password that it was given", async () => {
    const [server] = pool.servers;
    await server!.command("CONFIG", "SET", "requirepass", "secret");
    const locked = await restServer(server!, { token: "mine", password: "secret" });
    try {
      const redis = new Redis({ url: locked.url, token: "mine" });
      expect(await redis.set("a", 1)).toBe("OK");
      const { body } = await post(["GET", "a"]);
      expect(body.error).toMatch(/^NOAUTH/);
    } finally {
      await locked.stop();
      const admin = await restServer(server!, { password: "secret" });
      const redis = new Redis({ url: admin.url, token: admin.token });
      await redis.exec(["CONFIG", "SET", "requirepass", ""]);
      await admin.stop();
    }
  });

  it("answers 500 while Redis is gone, and serves again once it is back", async () => {
    const [server] = pool.servers;
    await increment();
    await server!.kill();
    expect(await increment()).toEqual({ status: 500, body: { error: expect.any(String) } });
    await server!.restart();
    expect(await increment()).toEqual({ status: 200, body: { result: 1 } });
  });
});

describe.each([
  { name: "default", options: {} },
  {
    name: "safe",
    options: {
      enableAutoPipelining: false,
      automaticDeserialization: false,
      retry: { retries: 0 },
      responseEncoding: false as const,
    },
  },
  { name: "default, without readYourWrites,", options: { readYourWrites: false } },
])("the real client in its $name configuration", ({ options }) => {
  const connect = () => new Redis({ url: rest.url, token: rest.token, ...options });

  it("is served single commands, pipelines and transactions", async () => {
    const redis = connect();
    expect(await redis.set("a", "text")).toBe("OK");
    expect(await Promise.all([redis.get("a"), redis.get("b")])).toEqual(["text", null]);
    expect(await redis.exec(["ECHO", "text"])).toBe("text");
    expect(await redis.pipeline().set("b", "ä").get("b").exec()).toEqual(["OK", "ä"]);
    expect(await redis.multi().incr("n").incr("n").exec()).toEqual([1, 2]);
    expect(await redis.createScript("return ARGV[1]").exec([], ["word"])).toBe("word");
    await expect(redis.evalsha("0".repeat(40), [], [])).rejects.toThrow("NOSCRIPT");
  });
});

describe("a broken REST server", () => {
  it("delays answers, or the execution", async () => {
    rest.delay(150);
    const startMs = performance.now();
    const answer = increment();
    await pollUntil("it was executed", counter, { timeoutMs: 140 });
    expect((await answer).body).toEqual({ result: 1 });
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(149);
    rest.heal();
    rest.delay(150, { of: "requests" });
    const late = increment();
    await pollUntil("the request came", () => rest.requests === 2);
    expect(await counter()).toBe("1");
    expect((await late).body).toEqual({ result: 2 });
  });

  it("cuts the connection after executing, as often as asked", async () => {
    rest.dropReplies(2);
    await expect(increment()).rejects.toThrow("fetch failed");
    await expect(increment()).rejects.toThrow("fetch failed");
    expect(await counter()).toBe("2");
    expect((await increment()).body).toEqual({ result: 3 });
  });

  it.each([
    [429, 429, { error: expect.stringContaining("max requests limit") }],
    [500, 500, { error: expect.any(String) }],
    ["html", 502, expect.stringContaining("<html>")],
    [{ status: 503, body: '"busy"' }, 503, "busy"],
  ] as const)("answers %o without executing, as often as asked", async (fault, status, body) => {
    rest.answer(fault, 1);
    expect(await increment()).toEqual({ status, body });
    expect(rest.commands).toBe(0);
    expect((await increment()).body).toEqual({ result: 1 });
    rest.answer(fault);
    expect((await increment()).status).toBe(status);
    expect((await increment()).status).toBe(status);
    rest.heal();
    expect((await increment()).body).toEqual({ result: 2 });
  });

  it("executes a request after the one that follows it, once", async () => {
    rest.reorder();
    const first = post(["APPEND", "counter", "first"]);
    await pollUntil("the first came", () => rest.requests === 1);
    expect(await counter()).toBeNull();
    expect((await post(["APPEND", "counter", "second"])).body).toEqual({ result: 6 });
    expect((await first).body).toEqual({ result: 11 });
    expect(await counter()).toBe("secondfirst");
    expect((await post(["APPEND", "counter", "!"])).body).toEqual({ result: 12 });
  });

  it("says nothing while half open, and goes on when healed", async () => {
    rest.halfOpen();
    const answer = increment();
    const silence = new Promise((resolve) => setTimeout(resolve, 100, "silence"));
    expect(await Promise.race([answer, silence])).toBe("silence");
    expect(await counter()).toBeNull();
    rest.heal();
    expect((await answer).body).toEqual({ result: 1 });
  });

  it("stops while requests wait, and can be stopped twice", async () => {
    rest.halfOpen();
    const answer = increment().catch(() => "cut");
    await pollUntil("it waits", () => rest.requests === 1);
    await rest.stop();
    expect(await answer).toBe("cut");
    await rest.stop();
  });
});
