import { inspect } from "node:util";
import { Redlock, type RedlockEvents } from "@redlatch/core";
import {
  type ForcedAnswer,
  outcome,
  type RestServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { upstashNode } from "../src/index.ts";
import { drivers, send, serving, TOKEN } from "./drivers.ts";

const [{ make }] = drivers;
let pool: ServerPool;
let rest: RestServer;

beforeAll(async () => {
  pool = await startServers(1);
});
afterAll(() => pool?.stop());
beforeEach(async () => {
  await pool.servers[0]!.flush();
  rest = await serving(pool.servers[0]!);
});

const connect = () => upstashNode(make({ url: rest.url, token: TOKEN }));
const everything = (value: unknown) => inspect(value, { depth: Infinity, showHidden: true });

const ANSWERS: [string, ForcedAnswer, RegExp][] = [
  ["429", 429, /^HTTP 429: ERR max requests limit exceeded/],
  ["500", 500, /^HTTP 500: ERR internal server error$/],
  ["a gateway's page", "html", /^HTTP 502: <html><head><title>502 Bad Gateway/],
  ["a page in place of a reply", { status: 200, body: "<html>Log in" }, /^HTTP 200: <html>Log in$/],
  ["nothing", { status: 200, body: "" }, /^HTTP 200: $/],
  ["no result", { status: 200, body: "{}" }, /^HTTP 200: {}$/],
  ["null", { status: 200, body: "null" }, /^HTTP 200: null$/],
  ["a bare OK", { status: 200, body: '"OK"' }, /^HTTP 200: "OK"$/],
  ["a result with an error", { status: 200, body: '{"result":1,"error":"no"}' }, /^no$/],
  ["a result with status 500", { status: 500, body: '{"result":1}' }, /^HTTP 500: {"result":1}$/],
  ["an error that is no text", { status: 400, body: '{"error":{"a":1}}' }, /object/],
  ["much", { status: 503, body: "x".repeat(1e6) }, /^HTTP 503: x{1,190}$/],
];

describe("an answer that is no reply", () => {
  it.each(ANSWERS)(
    "rejects with status and the beginning of the body: %s",
    async (_, fault, text) => {
      rest.answer(fault);
      const error = await outcome(send(connect(), ["SET", "a", "1"]));
      expect(error).toBeInstanceOf(Error);
      expect(error).toMatchObject({ message: expect.stringMatching(text) });
    },
  );

  it("is Redis' error in its own words, where Redis answered", async () => {
    await pool.servers[0]!.command("LPUSH", "list", "1");
    await expect(send(connect(), ["GET", "list"])).rejects.toThrow(/^WRONGTYPE/);
  });

  it("rejects with the cause when nobody listens", async () => {
    const node = connect();
    await rest.stop();
    expect(await outcome(send(node, ["GET", "a"]), 500)).toMatchObject({
      message: expect.stringMatching(/^fetch failed: .*ECONNREFUSED/),
      cause: { code: "ECONNREFUSED" },
    });
  });
});

describe("the secrets", () => {
  const VALUE = "1x9v4q0m2k8z7c6b5n3l:owner";

  it.each([
    ["quoted", JSON.stringify({ error: `${TOKEN} may not EVALSHA ${VALUE}` })],
    ["in a page", `<html>authorization: Bearer ${TOKEN}, body: ["SET","a","${VALUE}"]`],
    ["torn at the excerpt's end", `${"x".repeat(180)}${TOKEN}${VALUE}`],
  ])("are in no error, also where the answer repeats them %s", async (_, body) => {
    for (const status of [200, 400, 403, 500]) {
      rest.answer({ status, body });
      const error = await outcome(send(connect(), ["SET", "a", VALUE]));
      expect(error).toBeInstanceOf(Error);
      expect(everything(error)).not.toMatch(/AX8s|Secret|1x9v|n3l/);
    }
  });

  it("are masked however short the token is", async () => {
    rest.answer({ status: 403, body: "no entry for hush" });
    const node = upstashNode(make({ url: rest.url, token: "hush" }));
    await expect(send(node, ["GET", "a"])).rejects.toThrow("HTTP 403: no entry for ***");
  });

  it("are in no vote, event, error, name or log of a Redlock, whatever the fault", async () => {
    const kinds = ["log", "info", "warn", "error", "debug"] as const;
    const printed = kinds.map((kind) => vi.spyOn(console, kind));
    const node = connect();
    const redlock = new Redlock([node], { ttlMs: 1_500 });
    const told: unknown[] = [node.name];
    const events: (keyof RedlockEvents)[] = ["attempt", "nodeFailed", "nodeRecovered", "released"];
    for (const event of events) redlock.on(event, (value) => told.push(value));
    const page = `<html>Bearer ${TOKEN}`;
    for (const fault of [429, 500, "html", { status: 200, body: page }] as const) {
      rest.answer(fault);
      told.push(await redlock.acquire("a", { waitMs: 0 }).catch((error) => error));
    }
    rest.heal();
    rest.dropReplies(1);
    told.push(await redlock.acquire("a", { waitMs: 0 }).catch((error) => error));
    const lease = await redlock.acquire("a");
    told.push(lease.votes, await lease.release(), await redlock.inspect("a"));
    await redlock.close();
    const text = everything(told);
    expect(text).toMatch(/HTTP 429: ERR max requests/);
    expect(text).toMatch(/HTTP 502: <html>/);
    expect(text).not.toMatch(/AX8s|Secret/);
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });
});
