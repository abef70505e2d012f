import type { Lease } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { lost } from "./tapped-node.ts";

describe("tasks that share one Redlock", () => {
  it("exclude each other", async () => {
    const b = bench();
    const redlock = b.redlock();
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise<void>((resolve) => void b.clock.after(10, resolve));
      inside--;
    };
    await b.run(Promise.all(Array.from({ length: 20 }, () => redlock.using("a", work))));
    expect(most).toBe(1);
  });

  it("come in first in, first out", async () => {
    const b = bench();
    const redlock = b.redlock();
    const order: number[] = [];
    const all = Array.from({ length: 20 }, (_, index) =>
      redlock.using("a", async () => {
        order.push(index);
      }),
    );
    await b.run(Promise.all(all));
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  it("send one competitor per resource to the nodes", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 500);
    const redlock = b.redlock();
    const all = Array.from({ length: 10 }, () => redlock.using("a", async () => {}));
    await b.clock.settle();
    expect(b.sent("acquire")).toHaveLength(5);
    await b.run(Promise.all(all));
  });

  it("hand the lock on without a pause", async () => {
    const b = bench();
    const redlock = b.redlock();
    await b.run(Promise.all([1, 2, 3].map(() => redlock.using("a", async () => {}))));
    expect(b.clock.now).toBe(0);
    expect(b.sent("acquire")).toHaveLength(15);
  });

  it("do not wait for each other on different resources", async () => {
    const b = bench();
    const redlock = b.redlock();
    const leases = await b.run(Promise.all(["a", "b", "c"].map((name) => redlock.acquire(name))));
    expect(b.clock.now).toBe(0);
    for (const lease of leases) await b.release(lease);
  });

  it("cap their hand-overs in a row, so that another process gets its turn", async () => {
    const b = bench();
    const redlock = b.redlock({ retryDelayMs: 100, waitMs: 60_000 });
    const stranger = b.redlock({ retryDelayMs: 100 });
    const times: number[] = [];
    const all = Array.from({ length: 200 }, () =>
      redlock.using("a", async () => {
        times.push(b.clock.now);
        await new Promise<void>((resolve) => void b.clock.after(100, resolve));
      }),
    );
    const outsider = b.watch(stranger.using("a", async () => b.clock.now));
    await b.run(Promise.all(all));
    const pauses = times.filter((atMs, index) => index > 0 && atMs - (times[index - 1] ?? 0) > 500);
    expect(pauses.length).toBeGreaterThanOrEqual(2);
    expect(outsider.state).toBe("resolved");
    expect(outsider.value).toBeLessThan(times.at(-1) ?? 0);
  });

  it("go on counting hand-overs when one gives up in the pause for another process", async () => {
    const b = bench(3);
    const redlock = b.redlock({ retryDelayMs: 100 });
    const held = await b.run(redlock.acquire("a"));
    const caller = new AbortController();
    const quitter = b.watch(redlock.acquire("a", { signal: caller.signal }));
    const next = b.watch(redlock.acquire("a"));
    // Fifty retry delays in one process, then its next waiter pauses for ten of them.
    await b.clock.advance(5_000);
    await b.release(held);
    await b.clock.advance(500);
    expect(quitter.state).toBe("pending");
    caller.abort("stop");
    await b.clock.advance(999);
    expect(quitter).toMatchObject({ error: "stop", atMs: 5_500 });
    expect(next.state).toBe("pending");
    await b.clock.advance(1);
    expect(next).toMatchObject({ state: "resolved", atMs: 6_500 });
    await b.release(next.value);
  });
});

describe("several resources", () => {
  it("are waited for all at once, without deadlock", async () => {
    const b = bench();
    const redlock = b.redlock();
    const pairs = [
      ["a", "b"],
      ["b", "a"],
      ["b", "c"],
      ["c", "a"],
      ["a", "b", "c"],
    ];
    const done = pairs.flatMap((pair) => [1, 2, 3].map(() => redlock.using(pair, async () => {})));
    await b.run(Promise.all(done));
    expect(b.clock.now).toBe(0);
  });

  it("exclude overlapping sets and let others pass", async () => {
    const b = bench();
    const redlock = b.redlock();
    const held = await b.run(redlock.acquire(["a", "b"]));
    const overlapping = b.watch(redlock.acquire(["b", "c"]));
    const behind = b.watch(redlock.acquire("c"));
    const free = b.watch(redlock.acquire("d"));
    await b.clock.settle();
    expect(free.state).toBe("resolved");
    expect(overlapping.state).toBe("pending");
    // First in, first out on every resource: "c" is promised to the one before.
    expect(behind.state).toBe("pending");
    await b.release(held);
    await b.clock.settle();
    expect(overlapping.state).toBe("resolved");
    await b.release(overlapping.value);
    await b.clock.settle();
    for (const { value } of [behind, free]) await b.release(value);
  });

  it("free whoever waited behind one that gave up", async () => {
    const b = bench();
    const redlock = b.redlock();
    const held = await b.run(redlock.acquire("a"));
    const both = b.watch(redlock.acquire(["a", "b"], { waitMs: 300 }));
    const behind = b.watch(redlock.acquire("b"));
    await b.clock.advance(299);
    expect(behind.state).toBe("pending");
    await b.clock.advance(1);
    expect(both.error).toMatchObject({ code: "RESOURCE_HELD", resources: ["a", "b"] });
    expect(behind).toMatchObject({ state: "resolved", atMs: 300 });
    for (const lease of [held, behind.value]) await b.release(lease);
  });
});

describe("tryAcquire", () => {
  it("passes the line: it asks the nodes while others wait", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 150);
    const redlock = b.redlock({ retryDelayMs: 1_000, retryJitter: 0 });
    const waiter = b.watch(redlock.acquire("a", { waitMs: 200 }));
    await b.clock.settle();
    const count = b.sent("acquire").length;
    const attempt = b.watch(redlock.tryAcquire("a"));
    await b.clock.settle();
    expect(attempt).toMatchObject({ state: "resolved", value: null });
    expect(b.sent("acquire")).toHaveLength(count + 5);
    await b.clock.advance(500);
    await b.release(waiter.value);
  });

  it("that wins past the line is waited for by it", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 3_000);
    const redlock = b.redlock({ retryDelayMs: 1_000 });
    const waiter = b.watch(redlock.acquire("a", { waitMs: 60_000 }));
    await b.clock.settle();
    for (const node of b.nodes) node.memory.flush();
    const lease = await b.run(redlock.tryAcquire("a"));
    await b.clock.advance(5_000);
    expect(waiter.state).toBe("pending");
    await b.release(lease);
    await b.clock.advance(20_000);
    expect(waiter.state).toBe("resolved");
    await b.release(waiter.value);
  });
});

describe("a waiter whose time in the line runs out", () => {
  it("learns how long the local holder's lease lasts, and its label", async () => {
    const b = bench();
    const redlock = b.redlock();
    const held = await b.run(redlock.acquire("a", { owner: "worker-1" }));
    const before = b.sent().length;
    const waiter = b.watch(redlock.acquire("a", { waitMs: 1_000 }));
    await b.clock.advance(1_000);
    expect(waiter.error).toMatchObject({
      code: "RESOURCE_HELD",
      resources: ["a"],
      owner: "worker-1",
      remainingMs: 8_898,
    });
    expect(waiter.atMs).toBe(1_000);
    expect(b.sent()).toHaveLength(before);
    await b.release(held);
  });

  it("learns the head's verdict: held by somebody else, with remaining time and label", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 60_000, "other:them");
    const redlock = b.redlock();
    const head = b.watch(redlock.acquire("a", { waitMs: 5_000 }));
    const waiter = b.watch(redlock.acquire("a", { waitMs: 1_000 }));
    await b.clock.advance(1_000);
    expect(waiter.error).toMatchObject({ code: "RESOURCE_HELD", owner: "them", resources: ["a"] });
    expect((waiter.error as { remainingMs: number }).remainingMs).toBeGreaterThan(50_000);
    await b.clock.advance(5_000);
    expect(head.error).toMatchObject({ code: "RESOURCE_HELD" });
  });

  it("learns the head's verdict: the quorum is unreachable", async () => {
    const b = bench();
    for (const node of b.nodes) node.memory.kill();
    const redlock = b.redlock();
    const head = b.watch(redlock.acquire("a", { waitMs: 5_000 }));
    const waiter = b.watch(redlock.acquire("a", { waitMs: 1_000 }));
    await b.clock.advance(1_000);
    expect(waiter.error).toMatchObject({ code: "QUORUM_UNREACHABLE", resources: ["a"] });
    await b.clock.advance(5_000);
    expect(head.error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
  });

  it("is told of its own resources, not of the head's", async () => {
    const b = bench();
    for (const node of b.nodes) node.memory.kill();
    const redlock = b.redlock();
    const head = b.watch(redlock.acquire(["a", "b"], { waitMs: 2_000 }));
    const waiter = b.watch(redlock.acquire(["b", "c"], { waitMs: 1_000 }));
    await b.clock.advance(1_000);
    expect(waiter.error).toMatchObject({ resources: ["b", "c"] });
    await b.clock.advance(2_000);
    expect(head.state).toBe("rejected");
  });

  it("with waitMs 0 learns it at once", async () => {
    const b = bench();
    const redlock = b.redlock();
    const held = await b.run(redlock.acquire("a"));
    const error = await b.failure(redlock.acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "RESOURCE_HELD", remainingMs: 9_898 });
    expect(b.clock.now).toBe(0);
    await b.release(held);
  });

  it("gets its answer within its own time behind a head whose nodes hang", async () => {
    const b = bench();
    for (const node of b.nodes) node.fault = lost;
    const redlock = b.redlock();
    const head = b.watch(redlock.acquire("a", { waitMs: 3_000 }));
    const waiter = b.watch(redlock.acquire("a", { waitMs: 200 }));
    await b.clock.advance(200);
    expect(waiter).toMatchObject({ state: "rejected", atMs: 200 });
    for (const node of b.nodes) node.fault = undefined;
    await b.clock.advance(20_000);
    if (head.state === "resolved") await b.run((head.value as Lease).release());
  });
});

describe("the line moves on", () => {
  it("when the head gives up", async () => {
    const b = bench();
    b.occupy([0, 1, 2], 700);
    const redlock = b.redlock({ retryDelayMs: 100 });
    const head = b.watch(redlock.acquire("a", { waitMs: 250 }));
    const next = b.watch(redlock.acquire("a"));
    await b.clock.advance(2_000);
    expect(head.state).toBe("rejected");
    expect(next.state).toBe("resolved");
    await b.release(next.value);
  });

  it("when a lease is lost instead of released", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 1_000 });
    const lease = await b.run(redlock.acquire("a"));
    const next = b.watch(redlock.acquire("a"));
    await b.clock.advance(987);
    expect(next.state).toBe("pending");
    await b.clock.advance(500);
    expect(lease.isHeld()).toBe(false);
    expect(next.state).toBe("resolved");
    await b.release(next.value);
  });

  it("when one in the middle aborts", async () => {
    const b = bench();
    const redlock = b.redlock();
    const caller = new AbortController();
    const held = await b.run(redlock.acquire("a"));
    const middle = b.watch(redlock.acquire("a", { signal: caller.signal }));
    const next = b.watch(redlock.acquire("a"));
    caller.abort(new Error("enough"));
    await b.release(held);
    await b.clock.settle();
    expect(middle.error).toMatchObject({ message: "enough" });
    expect(next).toMatchObject({ state: "resolved", atMs: 0 });
    await b.release(next.value);
  });

  it("when work throws", async () => {
    const b = bench();
    const redlock = b.redlock();
    const failing = b.watch(
      redlock.using("a", async () => {
        throw new Error("work failed");
      }),
    );
    const next = b.watch(redlock.using("a", async () => "next"));
    await b.clock.settle();
    expect(failing.error).toMatchObject({ message: "work failed" });
    expect(next.value).toBe("next");
  });

  it("only after the release has reached a majority", async () => {
    const b = bench();
    const redlock = b.redlock();
    const acquired = heard(redlock, "acquired");
    const lease = await b.run(redlock.acquire("a"));
    for (const node of b.nodes) {
      node.fault = async ({ kind }, execute) => {
        if (kind === "release") await new Promise<void>((go) => void b.clock.after(40, go));
        return execute();
      };
    }
    const next = b.watch(redlock.acquire("a"));
    await b.release(lease);
    await b.clock.settle();
    expect(next).toMatchObject({ state: "resolved", atMs: 40 });
    expect(acquired).toMatchObject([
      { attempts: 1, waitedMs: 0 },
      { attempts: 1, waitedMs: 40 },
    ]);
    await b.release(next.value);
  });
});
