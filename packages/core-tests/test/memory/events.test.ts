import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { late, only, refused, slowReply } from "./tapped-node.ts";

describe("events", () => {
  it("tell of an acquisition what its caller gets", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 150);
    const redlock = b.redlock();
    const attempts = heard(redlock, "attempt");
    const acquired = heard(redlock, "acquired");
    const waits = heard(redlock, "waiting");
    const lease = await b.run(redlock.acquire(["b", "a"]));
    expect(attempts.map(({ verdict }) => verdict)).toEqual(["lost", "lost", "won"]);
    for (const attempt of attempts) expect(attempt.resources).toEqual(["a", "b"]);
    expect(attempts[0]?.votes.length).toBeGreaterThanOrEqual(3);
    expect(attempts[0]?.votes[0]).toMatchObject({ node: "node-1", outcome: "denied" });
    expect(waits).toHaveLength(2);
    expect(acquired).toEqual([{ resources: ["a", "b"], attempts: 3, waitedMs: b.clock.now }]);
    await b.release(lease);
  });

  it("tell of extension, release and loss", async () => {
    const b = bench();
    const redlock = b.redlock();
    const extended = heard(redlock, "extended");
    const released = heard(redlock, "released");
    const losses = heard(redlock, "lost");
    const lease = await b.run(redlock.acquire("a"));
    await b.run(lease.extend(20_000));
    expect(extended).toEqual([{ resources: ["a"], remainingMs: lease.remainingMs() }]);
    const outcome = await b.release(lease);
    expect(released).toEqual([{ resources: ["a"], outcome }]);
    expect(losses).toEqual([]);
  });

  it("tell of an extension only where it moved the deadline", async () => {
    const b = bench(3);
    b.quietAfterMs = 121_000;
    const redlock = b.redlock({ ttlMs: 60_000 });
    const extended = heard(redlock, "extended");
    const lease = await b.run(redlock.acquire("a"));
    await b.run(lease.extend(1_000));
    expect(extended).toEqual([]);
    await b.run(lease.extend(120_000));
    expect(extended).toEqual([{ resources: ["a"], remainingMs: 120_000 - 1_202 }]);
    await b.release(lease);
  });

  it("tell of waiting in the line of this very object, too", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    const waits = heard(redlock, "waiting");
    const held = await b.run(redlock.acquire("a"));
    const waiter = b.watch(redlock.acquire(["b", "a"], { waitMs: 3_000 }));
    await b.clock.settle();
    expect(waits).toEqual([{ resources: ["a", "b"], delayMs: 3_000 }]);
    await b.release(held);
    await b.clock.settle();
    expect(waits).toHaveLength(1);
    await b.release(waiter.value);
  });

  it("tell of tryAcquire, too", async () => {
    const b = bench();
    const redlock = b.redlock();
    const acquired = heard(redlock, "acquired");
    const attempts = heard(redlock, "attempt");
    const lease = await b.run(redlock.tryAcquire("a"));
    expect(acquired).toMatchObject([{ attempts: 1, waitedMs: 0 }]);
    await b.release(lease);
    b.occupy([0, 1, 2]);
    await b.run(redlock.tryAcquire("a"));
    expect(attempts.map(({ verdict }) => verdict)).toEqual(["won", "lost"]);
    expect(acquired).toHaveLength(1);
  });

  it("are harmed by no listener that throws or rejects, nor is the lock", async () => {
    const b = bench();
    const redlock = b.redlock();
    const names = [
      "attempt",
      "acquired",
      "extended",
      "lost",
      "released",
      "nodeFailed",
      "nodeRecovered",
      "waiting",
      "unreleased",
    ] as const;
    for (const name of names) {
      redlock.on(name, () => {
        throw new Error("listener");
      });
      redlock.on(name, () => Promise.reject(new Error("listener")));
      redlock.on(name, () => Promise.reject(undefined));
      redlock.on(name, () => ({
        // biome-ignore lint/suspicious/noThenProperty: a hostile thenable is the point
        get then() {
          throw new Error("listener");
        },
      }));
    }
    const released = heard(redlock, "released");
    b.occupy([0, 1, 2], 50);
    b.node(3).memory.kill();
    const lease = await b.run(redlock.acquire("a"));
    await b.run(lease.extend());
    expect(await b.release(lease)).toBe("released");
    expect(released).toHaveLength(1);
    const next = await b.run(redlock.acquire("a", { ttlMs: 100 }));
    await b.clock.advance(200);
    expect(next.isHeld()).toBe(false);
  });

  it("stop when unsubscribed, and only those", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    let mine = 0;
    let theirs = 0;
    const count = () => {
      mine++;
    };
    const unsubscribe = redlock.on("acquired", count);
    redlock.on("acquired", () => {
      theirs++;
    });
    await b.run(redlock.using("a", () => {}));
    unsubscribe();
    unsubscribe();
    await b.run(redlock.using("a", () => {}));
    expect([mine, theirs]).toEqual([1, 2]);
  });

  it("come once per subscription, also of the same listener", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    let count = 0;
    const listener = () => {
      count++;
    };
    const unsubscribe = redlock.on("acquired", listener);
    redlock.on("acquired", listener);
    await b.run(redlock.using("a", () => {}));
    expect(count).toBe(2);
    unsubscribe();
    await b.run(redlock.using("a", () => {}));
    expect(count).toBe(3);
  });

  it("let a listener unsubscribe itself or others while they are told", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    const order: string[] = [];
    const first = redlock.on("acquired", () => {
      order.push("first");
      first();
    });
    redlock.on("acquired", () => {
      order.push("second");
    });
    await b.run(redlock.using("a", () => {}));
    await b.run(redlock.using("a", () => {}));
    expect(order).toEqual(["first", "second", "second"]);
  });
});

describe("a node that fails", () => {
  it("is told once until it recovers, and that once, too", async () => {
    const b = bench();
    const redlock = b.redlock();
    const failures = heard(redlock, "nodeFailed");
    const recoveries = heard(redlock, "nodeRecovered");
    b.node(1).fault = refused;
    for (let round = 0; round < 5; round++) await b.run(redlock.using("a", () => {}));
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ node: "node-2" });
    expect(failures[0]?.cause.message).toMatch(/ECONNREFUSED/);
    expect(recoveries).toEqual([]);
    b.node(1).fault = undefined;
    for (let round = 0; round < 3; round++) await b.run(redlock.using("a", () => {}));
    expect(recoveries).toEqual([{ node: "node-2" }]);
    expect(failures).toHaveLength(1);
    b.node(1).fault = refused;
    await b.run(redlock.using("a", () => {}));
    await b.clock.settle();
    expect(failures).toHaveLength(2);
  });

  it("by its time limit is told with that cause", async () => {
    const b = bench();
    const redlock = b.redlock();
    const failures = heard(redlock, "nodeFailed");
    b.node(1).memory.hang();
    const lease = await b.run(redlock.acquire("a"));
    await b.clock.advance(500);
    expect(failures).toMatchObject([
      { node: "node-2", cause: { message: expect.stringMatching(/no answer within 500/) } },
    ]);
    b.node(1).memory.resume();
    await b.release(lease);
    await b.clock.settle();
  });

  it("by answering always after its limit is told once, not once per answer", async () => {
    const b = bench(3);
    const redlock = b.redlock();
    const failures = heard(redlock, "nodeFailed");
    const recoveries = heard(redlock, "nodeRecovered");
    b.node(1).fault = slowReply(b.clock, 700);
    for (let round = 0; round < 50; round++) {
      await b.run(redlock.using("a", () => {}));
      await b.clock.advance(1_000);
    }
    expect(failures).toHaveLength(1);
    expect(recoveries).toEqual([]);
  });

  it("is not what contention is", async () => {
    const b = bench();
    b.occupy([0, 1, 2]);
    const redlock = b.redlock();
    const failures = heard(redlock, "nodeFailed");
    await b.failure(redlock.acquire("a", { waitMs: 1_000 }));
    expect(failures).toEqual([]);
  });

  it("is not one whose undo was merely slow while the next attempt waited for it", async () => {
    const b = bench(3);
    b.occupy([0, 1], 5_000);
    const redlock = b.redlock({ nodeTimeoutMs: 500 });
    const failures = heard(redlock, "nodeFailed");
    b.node(2).fault = only("release", late(b.clock, 400));
    await b.failure(redlock.acquire("a", { waitMs: 2_000 }));
    await b.clock.advance(1_000);
    expect(failures).toEqual([]);
  });
});
