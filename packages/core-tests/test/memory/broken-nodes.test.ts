import { defineNode, type RedisNode, Redlock, type RedlockOptions } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import { type Bench, bench, heard } from "./bench.ts";
import { only } from "./tapped-node.ts";

const BROKEN: readonly (readonly [what: string, send: () => unknown, cause: RegExp])[] = [
  ["throws synchronously", () => thrown(new Error("sync")), /sync/],
  ["throws undefined synchronously", () => thrown(undefined), /undefined/],
  ["rejects with undefined", () => Promise.reject(undefined), /undefined/],
  ["rejects with null", () => Promise.reject(null), /null/],
  ["rejects with text", () => Promise.reject("text"), /text/],
  ["rejects with a number", () => Promise.reject(7), /7/],
  ["rejects with an object", () => Promise.reject({ code: 1 }), /object/],
  ["rejects with an object without prototype", () => Promise.reject(Object.create(null)), /./],
  ["rejects with a symbol", () => Promise.reject(Symbol("why")), /why/],
  ["never settles", () => new Promise(() => {}), /no answer within \d+ ms/],
  ["returns undefined", () => undefined, /undefined/],
  ["returns null", () => null, /null/],
  ["resolves OK", async () => "OK", /OK/],
  ["resolves null", async () => null, /null/],
  ["resolves true", async () => true, /boolean/],
  ["resolves an array", async () => [1], /object/],
  ["resolves an object", async () => ({ result: 1 }), /object/],
  ["resolves NaN", async () => Number.NaN, /NaN/],
  ["resolves 2", async () => 2, /2/],
  ["resolves a web page", async () => "<html>502 Bad Gateway</html>", /html/],
  ["resolves an Error", async () => new Error("ERR in a pipeline"), /./],
  ["resolves bytes that are no text", async () => new Uint8Array([0xff, 0xfe]), /unexpected/],
  ["is a hostile thenable", () => hostile(), /hostile/],
];

function thrown(error: unknown): never {
  throw error;
}

const hostile = (): unknown => ({
  // biome-ignore lint/suspicious/noThenProperty: a hostile thenable is the point
  get then() {
    return thrown(new Error("hostile"));
  },
});

function redlockWith(b: Bench, broken: number, send: () => unknown, options: RedlockOptions = {}) {
  const nodes: RedisNode[] = b.nodes.map((node, index) =>
    index < broken ? defineNode(`broken-${index}`, send as RedisNode["send"]) : node,
  );
  return new Redlock(nodes, { clock: b.clock, ...options });
}

describe.each(BROKEN)("a node that %s", (_, send, cause) => {
  it("is a failed vote with its cause, and a minority of them hinders nobody", async () => {
    const b = bench();
    const redlock = redlockWith(b, 2, send);
    const lease = await b.run(redlock.acquire("a"));
    expect(b.clock.now).toBe(0);
    await b.run(lease.extend());
    expect(await b.release(lease)).toBe("released");
    await b.clock.advance(500);
    const failed = lease.votes.filter((vote) => vote.outcome === "failed");
    expect(failed.map(({ node }) => node)).toEqual(["broken-0", "broken-1"]);
    for (const vote of failed) {
      expect(vote.cause).toBeInstanceOf(Error);
      expect(vote.cause.message).toMatch(cause);
    }
  });

  it("as a majority makes the quorum unreachable, in bounded time", async () => {
    const b = bench();
    const redlock = redlockWith(b, 3, send);
    const failures = heard(redlock, "nodeFailed");
    const error = await b.failure(redlock.acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    expect(b.clock.now).toBeLessThanOrEqual(500);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
    expect(failures).toHaveLength(3);
    const inspection = await b.run(redlock.inspect("a"));
    expect(inspection.verdict).toBe("unreachable");
    expect(await b.run(redlock.forceRelease("a"))).toBe("unreachable");
  });
});

describe("a Redis error reply", () => {
  it.each([
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "READONLY You can't write against a read only replica.",
    "NOAUTH Authentication required.",
    "CROSSSLOT Keys in request don't hash to the same slot",
    "CLUSTERDOWN The cluster is down",
    "LOADING Redis is loading the dataset in memory",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "BUSY Redis is busy running a script",
    "NOPERM this user has no permissions",
  ])("of %s is a failed vote with that cause", async (reply) => {
    const b = bench();
    const redlock = redlockWith(b, 2, () => Promise.reject(new Error(reply)));
    const lease = await b.run(redlock.acquire("a"));
    const causes = lease.votes.flatMap((vote) => (vote.outcome === "failed" ? [vote.cause] : []));
    expect(causes).toHaveLength(2);
    for (const { message } of causes) expect(message).toContain(reply);
    await b.release(lease);
  });

  it("of CROSSSLOT explains hash tags", async () => {
    const b = bench(1);
    b.node(0).fault = () => Promise.reject(new Error("CROSSSLOT Keys in request"));
    const error = await b.failure(b.redlock().acquire(["a", "b"], { waitMs: 0 }));
    expect((error as Error).message).toMatch(/hash tag.*\{.+\}/);
  });

  it("of a real WRONGTYPE leaves the other data alone", async () => {
    const b = bench(3);
    const before = [0, 1].map((index) => {
      b.node(index).memory.execute(["HSET", "other", "field", "value"]);
      return b.node(index).memory.dump();
    });
    const redlock = b.redlock({ keyPrefix: "" });
    const error = await b.failure(redlock.acquire("other", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    expect((error as Error).message).toMatch(/WRONGTYPE/);
    expect([0, 1].map((index) => b.node(index).memory.dump())).toEqual(before);
    for (const { memory } of b.nodes) memory.flush();
  });
});

describe("a driver's own reply types", () => {
  it.each([
    ["bigint", (reply: unknown) => (typeof reply === "number" ? BigInt(reply) : reply)],
    ["text", (reply: unknown) => String(reply)],
    ["bytes", (reply: unknown) => new TextEncoder().encode(String(reply))],
  ])("of %s work for everything", async (_, convert) => {
    const b = bench(3);
    for (const node of b.nodes) node.fault = async (_sent, execute) => convert(await execute());
    const redlock = b.redlock({ owner: "me" });
    const lease = await b.run(redlock.acquire("a"));
    expect(await b.run(redlock.inspect("a"))).toMatchObject({
      verdict: "held",
      holder: { owner: "me", remainingMs: 10_000 },
    });
    await b.run(lease.extend());
    const other = b.redlock();
    expect(await b.run(other.tryAcquire("a"))).toBeNull();
    const taker = await b.run(other.restore(lease.handOver()));
    expect(await b.release(taker)).toBe("released");
  });
});

describe("a script that a node does not know", () => {
  it("is sent whole, on that node only", async () => {
    const b = bench(3);
    b.node(0).memory.flushScripts();
    const lease = await b.run(b.redlock().acquire("a"));
    const names = b.nodes.map(({ sent }) => sent.map(({ command }) => command[0]));
    expect(names).toEqual([["EVALSHA", "EVAL"], ["EVALSHA"], ["EVALSHA"]]);
    expect(b.values()).toEqual(["t1", "t1", "t1"]);
    expect(await b.release(lease)).toBe("released");
    b.node(0).sent.length = 0;
    await b.release(await b.run(b.redlock().acquire("a")));
    expect(b.node(0).sent.map(({ command }) => command[0])).toEqual(["EVALSHA", "EVALSHA"]);
  });

  it("after a restart of all nodes is no trouble for a lease that is held", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock().acquire("a"));
    for (const { memory } of b.nodes) memory.restart({ persistence: "all" });
    await b.run(lease.extend());
    expect(await b.release(lease)).toBe("released");
  });

  it("is recognised by the wording of other drivers", async () => {
    const b = bench(1);
    for (const message of [
      "NoScriptError: no matching script",
      "ERR NOSCRIPT No matching script.",
    ]) {
      let asked = 0;
      b.node(0).fault = only("acquire", (sent, execute) => {
        if (sent.command[0] === "EVALSHA" && asked++ === 0)
          return Promise.reject(new Error(message));
        return execute();
      });
      await b.release(await b.run(b.redlock().acquire("a", { waitMs: 0 })));
      expect(asked).toBe(1);
    }
  });

  it("is no reason to send it whole after any other error", async () => {
    const b = bench(1);
    b.node(0).fault = only("acquire", () => Promise.reject(new Error("READONLY")));
    await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(b.sent("acquire")).toHaveLength(1);
  });
});

describe("nodes", () => {
  const node = (name: string, client?: object): RedisNode =>
    defineNode(name, async () => 1, { client });

  it.each([
    ["none", []],
    ["undefined", undefined],
    ["null", null],
    ["one that is not in an array", node("a")],
    ["text", "redis://host"],
    ["a URL in an array", ["redis://host"]],
    ["a client instead of a node", [{ eval() {}, get() {} }]],
    ["a node without send", [{ name: "a" }]],
    ["a node without name", [{ send: async () => 1 }]],
    ["a hole", [undefined]],
  ])("may not be %s", (_, nodes) => {
    expect(() => new Redlock(nodes as never)).toThrow(TypeError);
    expect(() => new Redlock(nodes as never)).toThrow(/node/i);
  });

  it("may not have one name, one client or be one node twice", () => {
    const client = {};
    const same = node("a");
    expect(() => new Redlock([node("a"), node("a")])).toThrow(/same name.*a/);
    expect(() => new Redlock([node("a", client), node("b", client)])).toThrow(/same client.*b/);
    expect(() => new Redlock([same, node("b"), same])).toThrow(TypeError);
    expect(() => new Redlock([same, node("b"), same])).toThrow(/same node/);
  });

  it("may have a client of their own each, or none", () => {
    expect(() => new Redlock([node("a", {}), node("b", {}), node("c")])).not.toThrow();
  });

  it("are copied: a list changed later changes no quorum", async () => {
    const b = bench(3);
    const list: RedisNode[] = [...b.nodes];
    const redlock = new Redlock(list, { clock: b.clock });
    list.length = 0;
    await b.run(redlock.using("a", () => {}));
    expect(b.sent("acquire")).toHaveLength(3);
  });

  it.each<[what: string, name: unknown, send: unknown]>([
    ["an empty name", "", async () => 1],
    ["a name that is no text", 1, async () => 1],
    ["no send", "a", undefined],
    ["a send that is no function", "a", {}],
  ])("are not defined with %s", (_, name, send) => {
    expect(() => defineNode(name as never, send as never)).toThrow(TypeError);
  });

  it("keep what they were defined with", async () => {
    const client = {};
    const subscribe: NonNullable<RedisNode["subscribe"]> = async () => async () => {};
    const send = async () => 1;
    const defined = defineNode("a", send, { timeoutMs: 50, client, subscribe });
    expect(defined).toEqual({ name: "a", send, timeoutMs: 50, client, subscribe });
    expect(Object.keys(defineNode("a", send))).not.toContain("subscribe");
  });

  it("see bad options refused before any I/O", async () => {
    const b = bench(1);
    expect(() => b.redlock({ ttlMs: 0 })).toThrow(RangeError);
    expect(() => b.redlock({ ttl: 5 } as never)).toThrow(/ttlMs/);
    const redlock = b.redlock();
    for (const call of [
      () => redlock.acquire("a", { ttlMs: 0.5 }),
      () => redlock.acquire("a", 5000 as never),
      () => redlock.acquire("a", { keyPrefix: "x" } as never),
      () => redlock.tryAcquire([]),
      () => redlock.acquire(""),
      () => redlock.acquire(Array.from({ length: 1_001 }, (_, index) => `r${index}`)),
      () => redlock.using("a", { ttl: 1 } as never, () => {}),
      () => redlock.inspect(""),
      () => redlock.forceRelease(undefined as never),
    ]) {
      const error = await b.failure(call());
      expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
    }
    expect(b.sent()).toEqual([]);
  });
});
