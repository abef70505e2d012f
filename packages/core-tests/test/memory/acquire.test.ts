import { describe, expect, it, vi } from "vitest";
import { type Bench, bench, heard } from "./bench.ts";
import { late, lost, only, refused, slowReply } from "./tapped-node.ts";

describe("an acquisition", () => {
  it("sets the key with its token on every node and gives a lease of ttl - drift", async () => {
    const b = bench();
    const startMs = b.clock.wallMs();
    const lease = await b.run(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    expect(lease).toMatchObject({ resources: ["a"], token: "t1" });
    expect(lease.deadline).toBe(startMs + 10_000 - 102);
    expect(lease.remainingMs()).toBe(9_898);
    expect(lease.isHeld()).toBe(true);
    expect(() => lease.assertHeld()).not.toThrow();
    expect(lease.signal.aborted).toBe(false);
    expect(b.values()).toEqual(["t1", "t1", "t1", "t1", "t1"]);
    expect(b.node(0).memory.dump()["lock:a"]?.remainingMs).toBe(10_000);
    await b.release(lease);
  });

  it("costs one command per node, and so does its release", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    expect(b.sent()).toHaveLength(5);
    expect(await b.release(lease)).toBe("released");
    expect(b.sent().map(({ kind }) => kind)).toEqual(Array(5).fill(["acquire", "release"]).flat());
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("gives every command a fresh array and the first key", async () => {
    const b = bench(3);
    for (const node of b.nodes) {
      node.fault = (sent, execute) => {
        expect(sent.options.key).toBe("lock:a");
        expect(sent.options.signal).toBeInstanceOf(AbortSignal);
        const reply = execute();
        sent.command.length = 0;
        return reply;
      };
    }
    const lease = await b.run(b.redlock().acquire(["b", "a"]));
    expect(await b.release(lease)).toBe("released");
  });

  it("wins at the third of five answers and waits for no straggler", async () => {
    const b = bench();
    for (const [index, node] of b.nodes.entries()) node.fault = late(b.clock, 10 * index);
    const lease = await b.run(b.redlock().acquire("a"));
    expect(b.clock.now).toBe(20);
    expect(lease.votes).toHaveLength(3);
    await b.clock.advance(100);
    expect(lease.votes.filter(({ outcome }) => outcome === "granted")).toHaveLength(5);
    await b.release(lease);
    await b.clock.advance(100);
  });

  it.each([1, 2])("succeeds at the speed of the rest while %i of five hang", async (hung) => {
    const b = bench();
    for (const node of b.nodes.slice(0, hung)) node.memory.hang();
    const lease = await b.run(b.redlock().acquire("a"));
    expect(b.clock.now).toBe(0);
    expect(await b.release(lease)).toBe("released");
    expect(b.clock.now).toBe(0);
    for (const node of b.nodes) node.memory.resume();
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it.each([1, 2])("succeeds while %i of five refuse", async (down) => {
    const b = bench();
    for (const node of b.nodes.slice(0, down)) node.memory.kill();
    const lease = await b.run(b.redlock().acquire("a"));
    expect(await b.release(lease)).toBe("released");
    expect(b.clock.now).toBe(0);
  });

  it("counts its validity from before the first byte, however slow the answers", async () => {
    const b = bench();
    const startMs = b.clock.wallMs();
    for (const node of b.nodes) node.fault = only("acquire", slowReply(b.clock, 400));
    const lease = await b.run(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    expect(b.clock.now).toBe(400);
    expect(lease.deadline).toBe(startMs + 9_898);
    expect(lease.remainingMs()).toBe(9_498);
    await b.release(lease);
  });

  it("counts its validity from before the first byte, also where sending itself takes time", async () => {
    const b = bench(3);
    const startMs = b.clock.wallMs();
    b.node(0).fault = only("acquire", (_, execute) => {
      b.clock.freeze(300);
      return execute();
    });
    const lease = await b.run(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    expect(lease.deadline).toBe(startMs + 9_898);
    expect(lease.remainingMs()).toBe(9_598);
    b.node(0).fault = only("extend", (_, execute) => {
      b.clock.freeze(300);
      return execute();
    });
    await b.run(lease.extend());
    expect(lease.remainingMs()).toBe(9_598);
    await b.release(lease);
  });

  it("never gives a lease without validity: replies slower than the ttl allows", async () => {
    // A clock that the core's time limit does not see: the machine slept between command and answers.
    const b = bench();
    const redlock = b.redlock({ ttlMs: 1_000, waitMs: 0 });
    for (const node of b.nodes) {
      node.fault = only("acquire", async (_, execute) => {
        const reply = await execute();
        if (node === b.node(2)) b.suspend(988);
        return reply;
      });
    }
    const error = await b.failure(redlock.acquire("a"));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    expect((error as Error).message).toMatch(/too long/);
    expect((error as Error).cause).toBeInstanceOf(Error);
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it("gives a lease with the last millisecond of validity", async () => {
    const b = bench();
    for (const node of b.nodes) {
      node.fault = only("acquire", async (_, execute) => {
        const reply = await execute();
        if (node === b.node(2)) b.suspend(987);
        return reply;
      });
    }
    const lease = await b.run(b.redlock({ ttlMs: 1_000, waitMs: 0 }).acquire("a"));
    expect(lease.remainingMs()).toBe(1);
    await b.release(lease);
  });

  it("is refused before any I/O when drift would take the whole ttl", async () => {
    const b = bench(3);
    const redlock = b.redlock({ driftFactor: 0.9 });
    const error = await b.failure(redlock.acquire("a", { ttlMs: 10 }));
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({
      message: "driftFactor must be low enough to leave some of a ttlMs of 10, got 0.9",
    });
    expect(b.node(0).sent).toEqual([]);
  });

  it("is refused by the constructor, too, when drift would take the whole ttl", () => {
    const b = bench(3);
    expect(() => b.redlock({ ttlMs: 10, driftFactor: 0.9 })).toThrow(RangeError);
    expect(() => b.redlock({ ttlMs: 10, driftFactor: 0.7 })).not.toThrow();
  });

  it("signs every attempt with a token of its own", async () => {
    const b = bench(3);
    b.occupy([0, 1, 2], 450);
    const lease = await b.run(b.redlock().acquire("a"));
    const tokens = b.node(0).sent.filter(({ kind }) => kind === "acquire");
    expect(tokens.length).toBeGreaterThan(1);
    expect(new Set(tokens.map(({ command }) => command[4])).size).toBe(tokens.length);
    await b.release(lease);
  });

  it("makes tokens of at least 128 random bits by itself", async () => {
    const b = bench(1);
    const tokens = new Set<string>();
    const redlock = b.redlock({ random: undefined });
    for (let round = 0; round < 50; round++) {
      const lease = await b.run(redlock.acquire("a"));
      expect(lease.token).toMatch(/^[\w-]{22,}$/);
      tokens.add(lease.token);
      await b.release(lease);
    }
    expect(tokens.size).toBe(50);
  });

  it("makes tokens of one length, however small the random numbers are", async () => {
    const b = bench(1);
    const redlock = b.redlock({ random: undefined });
    const drawn = vi.spyOn(crypto, "getRandomValues");
    for (const word of [0n, 35n, 2n ** 64n - 1n]) {
      drawn.mockImplementation((words) => (words as BigUint64Array).fill(word) as typeof words);
      const lease = await b.run(redlock.acquire("a"));
      expect(lease.token).toMatch(/^[0-9a-z]{26}$/);
      await b.release(lease);
    }
    expect(drawn).toHaveBeenCalledTimes(3);
    drawn.mockRestore();
  });

  it("puts keyPrefix before each resource", async () => {
    const b = bench(1);
    const lease = await b.run(b.redlock({ keyPrefix: "" }).acquire(["b", "a"]));
    expect(Object.keys(b.node(0).memory.dump())).toEqual(["a", "b"]);
    await b.release(lease);
  });

  it("sets several resources all or none on each node", async () => {
    const b = bench(3);
    b.occupy([0], 5_000, "other", "lock:b");
    const lease = await b.run(b.redlock().acquire(["c", "b", "a", "b"]));
    expect(lease.resources).toEqual(["a", "b", "c"]);
    expect(b.values("lock:a")).toEqual([null, "t1", "t1"]);
    expect(b.values("lock:b")).toEqual(["other", "t1", "t1"]);
    expect(b.values("lock:c")).toEqual([null, "t1", "t1"]);
    expect(await b.release(lease)).toBe("released");
  });

  it("takes a key that already holds its token for its own: a driver may send twice", async () => {
    const b = bench(3);
    for (const node of b.nodes) {
      node.fault = only("acquire", async (_, execute) => {
        await execute();
        return execute();
      });
    }
    const lease = await b.run(b.redlock().acquire("a", { waitMs: 0 }));
    expect(lease.votes.map(({ outcome }) => outcome)).toContain("granted");
    await b.release(lease);
  });

  it("does not lengthen the key when its command is executed a second time", async () => {
    const b = bench(1);
    b.node(0).fault = only("acquire", async (_, execute) => {
      const reply = await execute();
      b.clock.after(2_000, () => void execute());
      return reply;
    });
    const lease = await b.run(b.redlock({ ttlMs: 5_000 }).acquire("a"));
    await b.clock.advance(3_000);
    expect(b.node(0).memory.dump()["lock:a"]?.remainingMs).toBe(2_000);
    await b.release(lease);
  });
});

describe("an attempt", () => {
  it("gives null while somebody else holds the resource, and a lease once it is free", async () => {
    const b = bench();
    const held = await b.run(b.redlock().acquire("a"));
    const other = b.redlock();
    expect(await b.run(other.tryAcquire("a"))).toBeNull();
    expect(b.clock.now).toBe(0);
    await b.release(held);
    const lease = await b.run(other.tryAcquire("a"));
    expect(lease?.isHeld()).toBe(true);
    await b.release(lease);
  });

  it("gives null without I/O where this very object holds one of the resources", async () => {
    const b = bench();
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    const before = b.sent().length;
    expect(await redlock.tryAcquire("a")).toBeNull();
    expect(await redlock.tryAcquire(["z", "a"])).toBeNull();
    expect(b.sent()).toHaveLength(before);
    await b.release(lease);
  });

  it("throws QuorumUnreachableError when no quorum answered, with each node's cause", async () => {
    const b = bench();
    for (const node of b.nodes.slice(0, 2)) node.fault = refused;
    b.node(2).fault = lost;
    const error = await b.failure(b.redlock().tryAcquire("a"));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE", resources: ["a"] });
    expect((error as Error).message).toMatch(/node-1.*ECONNREFUSED/);
    expect((error as Error).message).toMatch(/node-3.*no answer within 500 ms/);
    await b.clock.advance(11_000);
  });

  it("does not wait, whatever waitMs says", async () => {
    const b = bench();
    b.occupy([0, 1, 2]);
    expect(await b.run(b.redlock().tryAcquire("a", { waitMs: 60_000 }))).toBeNull();
    expect(b.clock.now).toBe(0);
  });
});

describe("waiting", () => {
  it("ends within a few backoff intervals of the release, never a whole ttl later", async () => {
    const b = bench();
    const held = await b.run(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    const waiter = b.watch(b.redlock({ ttlMs: 10_000 }).acquire("a"));
    await b.clock.advance(50);
    await b.release(held);
    await b.clock.advance(1_000);
    expect(waiter.state).toBe("resolved");
    expect(waiter.atMs).toBeLessThanOrEqual(50 + 200);
    await b.release(waiter.value);
  });

  it("gives up after waitMs with ResourceHeldError that knows the holder", async () => {
    const b = bench();
    const held = await b.run(b.redlock({ owner: "worker-1" }).acquire("a"));
    const waiter = b.watch(b.redlock().acquire("a", { waitMs: 1_000 }));
    await b.clock.advance(5_000);
    expect(waiter.error).toMatchObject({ code: "RESOURCE_HELD", owner: "worker-1" });
    expect(waiter.atMs).toBe(1_000);
    expect((waiter.error as { remainingMs: number }).remainingMs).toBe(9_000);
    expect((waiter.error as Error).message).toMatch(/"a" is held by worker-1 for another 9000 ms/);
    await b.release(held);
  });

  it("goes on within a few backoff intervals after the wall clock jumped during a round", async () => {
    const b = bench(3);
    for (const node of b.nodes.slice(0, 2)) node.memory.hang();
    const waiter = b.watch(b.redlock().acquire("a", { waitMs: Infinity }));
    await b.clock.advance(100);
    b.clock.jumpWall(8 * 3_600_000);
    await b.clock.advance(400);
    for (const node of b.nodes) node.memory.resume();
    await b.clock.advance(3_000);
    expect(waiter.state).toBe("resolved");
    await b.release(waiter.value);
  });

  describe("learns that the resource is held from a node that answers one command after the other", () => {
    /** One holds on two of three nodes, of which one is slow; the third refuses. */
    function arranged(): Bench {
      const b = bench(3);
      b.quietAfterMs = 61_000;
      b.occupy([0, 2], 60_000);
      b.node(1).fault = refused;
      let before: Promise<unknown> = Promise.resolve();
      b.node(2).fault = (sent, execute) => {
        const answer = before.then(() => late(b.clock, 200)(sent, execute));
        before = answer.catch(() => {});
        return answer;
      };
      return b;
    }

    it("in its first attempt", async () => {
      const b = arranged();
      const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
      expect(error).toMatchObject({ code: "RESOURCE_HELD" });
      expect(b.clock.now).toBe(200);
    });

    it("in an attempt that is lost before the node has undone the one before", async () => {
      const b = arranged();
      const redlock = b.redlock({ nodeTimeoutMs: 1_000 });
      const error = await b.failure(redlock.acquire("a", { waitMs: 260 }));
      expect(error).toMatchObject({ code: "RESOURCE_HELD" });
      expect(b.node(2).sent.map(({ kind }) => kind)).toContain("look");
      expect(b.clock.now).toBeLessThanOrEqual(260 + 1_000);
    });

    // Until mended: the look comes behind two undos, and so after the limit of 500 ms.
    it("unless that answer takes longer than the time limit: then nobody can know", async () => {
      const b = arranged();
      const error = await b.failure(b.redlock().acquire("a", { waitMs: 260 }));
      expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    });
  });

  it("of 0 ms names no holder after a vote split among three: nobody holds", async () => {
    const b = bench(3);
    for (const index of [0, 1, 2]) b.occupy([index], 5_000, `other-${index}:them`);
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({
      code: "RESOURCE_HELD",
      owner: undefined,
      remainingMs: undefined,
      message: expect.stringMatching(/split/),
    });
  });

  it("of 0 ms is one attempt", async () => {
    const b = bench();
    b.occupy([0, 1, 2]);
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "RESOURCE_HELD" });
    expect(b.clock.now).toBe(0);
    expect(b.sent("acquire")).toHaveLength(5);
  });

  it("without limit ends when the holder's keys expire", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 100_000);
    const lease = await b.run(
      b.redlock().acquire("a", { waitMs: Number.POSITIVE_INFINITY }),
      200_000,
    );
    expect(b.clock.now).toBeGreaterThan(100_000);
    expect(b.clock.now).toBeLessThanOrEqual(100_002);
    await b.release(lease);
  });

  it("sleeps no longer than the holder's ttl where a quorum names one token", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 30);
    const lease = await b.run(b.redlock({ retryDelayMs: 5_000 }).acquire("a"));
    expect(b.clock.now).toBeGreaterThan(30);
    expect(b.clock.now).toBeLessThanOrEqual(32);
    await b.release(lease);
  });

  it("sleeps the backoff, not a ttl, after votes were split: nobody holds", async () => {
    const b = bench();
    b.occupy([0, 1], 9_000, "other-1");
    b.occupy([2, 3], 9_000, "other-2");
    const redlock = b.redlock();
    const delays = heard(redlock, "waiting");
    const waiter = b.watch(redlock.acquire("a"));
    await b.clock.advance(50);
    for (const node of b.nodes.slice(0, 4)) node.memory.flush();
    await b.clock.advance(60);
    expect(delays.map(({ delayMs }) => delayMs)).toEqual([100]);
    expect(waiter).toMatchObject({ state: "resolved", atMs: 100 });
    await b.release(waiter.value);
  });

  it("is not cut short by the ttl of a loser's partial keys", async () => {
    const b = bench();
    b.occupy([0, 1], 1, "other-1");
    b.occupy([2, 3], 1, "other-2");
    const redlock = b.redlock();
    const delays = heard(redlock, "waiting");
    const lease = await b.run(redlock.acquire("a"));
    expect(delays.map(({ delayMs }) => delayMs)).toEqual([100]);
    await b.release(lease);
  });

  it("doubles its pause with each attempt", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 60_000);
    const redlock = b.redlock();
    const delays = heard(redlock, "waiting");
    await b.failure(redlock.acquire("a", { waitMs: 5_000 }));
    expect(delays.map(({ delayMs }) => delayMs)).toEqual([
      100, 200, 400, 800, 1_000, 1_000, 1_000, 500,
    ]);
  });

  it("gets four clients with split votes through without anybody sleeping a ttl", async () => {
    const b = bench();
    let turn = 0;
    const uniform = (): number => [0.1, 0.9, 0.3, 0.7, 0.5, 0.0, 0.8][turn++ % 7] ?? 0.5;
    let tokens = 0;
    const clients = [0, 1, 2, 3].map(() =>
      b.redlock({ ttlMs: 10_000, random: { uniform, token: () => `s${++tokens}` } }),
    );
    // Each client's commands meet the nodes in an order of their own: votes split.
    for (const [index, node] of b.nodes.entries()) {
      node.fault = only("acquire", (sent, execute) =>
        late(b.clock, 1 + ((Number(sent.command[4]?.slice(1)) + index) % 5))(sent, execute),
      );
    }
    const done = clients.map(async (redlock) => {
      const lease = await redlock.acquire("a");
      await lease.release();
      return b.clock.now;
    });
    const times = await b.run(Promise.all(done), 60_000);
    expect(Math.max(...times)).toBeLessThan(4_000);
    await b.clock.advance(1_000);
  });
});
