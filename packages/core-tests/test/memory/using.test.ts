import { describe, expect, it } from "vitest";
import { bench, heard } from "./bench.ts";
import { lost, only, refused } from "./tapped-node.ts";

describe("using", () => {
  it("acquires, runs, releases and returns what the work returns", async () => {
    const b = bench();
    const redlock = b.redlock();
    const value = await b.run(
      redlock.using("a", async (lease) => {
        expect(lease.isHeld()).toBe(true);
        expect(b.values()).toContain("t1");
        return 42;
      }),
    );
    expect(value).toBe(42);
    expect(b.keys()).toEqual([]);
    expect(b.clock.pendingTimers).toBe(0);
  });

  it("takes options between the resource and the work, and work that is not async", async () => {
    const b = bench();
    const value = await b.run(
      b.redlock().using(["a", "b"], { ttlMs: 1_000 }, (lease) => lease.remainingMs()),
    );
    expect(value).toBe(988);
  });

  it("extends automatically as long as the work runs", async () => {
    const b = bench();
    const value = await b.run(
      b.redlock({ ttlMs: 1_000 }).using("a", async (lease) => {
        await new Promise<void>((resolve) => void b.clock.after(30_000, resolve));
        return lease.isHeld();
      }),
    );
    expect(value).toBe(true);
    expect(b.clock.now).toBe(30_000);
  });

  it("does not extend where autoExtend is false", async () => {
    const b = bench();
    const value = await b.run(
      b.redlock().using("a", { ttlMs: 1_000, autoExtend: false }, async (lease) => {
        await new Promise<void>((resolve) => void b.clock.after(2_000, resolve));
        return lease.isHeld();
      }),
    );
    expect(value).toBe(false);
    expect(b.sent("extend")).toEqual([]);
  });

  it("rejects with what the work throws, and releases", async () => {
    const b = bench();
    const thrown = new Error("work failed");
    for (const work of [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ]) {
      expect(await b.failure(b.redlock().using("a", work))).toBe(thrown);
      expect(b.keys()).toEqual([]);
    }
  });

  it("keeps a work's rejection with undefined as it is", async () => {
    const b = bench();
    expect(await b.failure(b.redlock().using("a", () => Promise.reject(undefined)))).toBe(
      undefined,
    );
  });

  it("keeps the result of work whose lease was lost meanwhile", async () => {
    const b = bench();
    const redlock = b.redlock({ ttlMs: 1_000 });
    const outcomes = heard(redlock, "released");
    const value = await b.run(
      redlock.using("a", async (lease) => {
        for (const node of b.nodes) node.memory.flush();
        await new Promise<void>((resolve) => void b.clock.after(2_000, resolve));
        expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST" });
        return "paid";
      }),
    );
    expect(value).toBe("paid");
    expect(outcomes).toMatchObject([{ outcome: "expired" }]);
  });

  it("rejects with the loss where onLost is throw, also set by the constructor", async () => {
    const b = bench();
    const work = async () => {
      for (const node of b.nodes) node.memory.flush();
      await new Promise<void>((resolve) => void b.clock.after(2_000, resolve));
      return "paid";
    };
    const byCall = b.redlock({ ttlMs: 1_000 }).using("a", { onLost: "throw" }, work);
    expect(await b.failure(byCall)).toMatchObject({ code: "LEASE_LOST" });
    const byConstructor = b.redlock({ ttlMs: 1_000, onLost: "throw" }).using("a", work);
    expect(await b.failure(byConstructor)).toMatchObject({ code: "LEASE_LOST" });
  });

  it("with onLost throw keeps the work's own error before the loss", async () => {
    const b = bench();
    const error = await b.failure(
      b.redlock({ ttlMs: 1_000 }).using("a", { onLost: "throw" }, async () => {
        for (const node of b.nodes) node.memory.flush();
        await new Promise<void>((resolve) => void b.clock.after(2_000, resolve));
        throw new Error("work failed");
      }),
    );
    expect(error).toMatchObject({ message: "work failed" });
  });

  it("with onLost throw returns the result of a lease that was never lost", async () => {
    const b = bench();
    expect(await b.run(b.redlock().using("a", { onLost: "throw" }, () => 1))).toBe(1);
  });

  it("with onLost throw returns the result of work that released or handed over itself", async () => {
    const b = bench(3);
    const redlock = b.redlock({ onLost: "throw" });
    const released = await b.run(redlock.using("a", (lease) => lease.release()));
    expect(released).toBe("released");
    const handle = await b.run(redlock.using("a", (lease) => lease.handOver()));
    expect(handle.token).toBe("t2");
    await b.clock.advance(10_001);
  });

  it("hides nothing by a release that fails", async () => {
    const b = bench();
    for (const node of b.nodes) node.fault = only("release", refused);
    const redlock = b.redlock();
    expect(await b.run(redlock.using("a", () => "value"))).toBe("value");
    for (const node of b.nodes) node.fault = undefined;
    await b.clock.advance(500);
    expect(b.keys()).toEqual([]);
    const thrown = new Error("work failed");
    for (const node of b.nodes) node.fault = only("release", lost);
    expect(await b.failure(redlock.using("a", () => Promise.reject(thrown)))).toBe(thrown);
    for (const node of b.nodes) node.fault = undefined;
    await b.clock.advance(500);
    expect(b.keys()).toEqual([]);
  });

  it("does not run the work without a lease", async () => {
    const b = bench();
    b.occupy([0, 1, 2]);
    let ran = false;
    const error = await b.failure(
      b.redlock().using("a", { waitMs: 100 }, () => {
        ran = true;
      }),
    );
    expect(error).toMatchObject({ code: "RESOURCE_HELD" });
    expect(ran).toBe(false);
  });

  it("refuses work that is no function, before any I/O", async () => {
    const b = bench();
    const error = await b.failure(b.redlock().using("a", "work" as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(await b.failure(b.redlock().using("a", {}, undefined as never))).toBeInstanceOf(
      TypeError,
    );
    expect(await b.failure(b.redlock().tryUsing("a", null as never))).toBeInstanceOf(TypeError);
    expect(b.sent()).toEqual([]);
  });
});

describe("the caller's signal", () => {
  it("aborts lease.signal while the work runs, and the lease stays held until it ends", async () => {
    const b = bench();
    const caller = new AbortController();
    const reason = new Error("shutting down");
    const seen = b.watch(
      b.redlock().using("a", { signal: caller.signal }, async (lease) => {
        await new Promise<void>((resolve) => void b.clock.after(100, resolve));
        expect(lease.signal.reason).toBe(reason);
        expect(lease.isHeld()).toBe(true);
        return "ended";
      }),
    );
    await b.clock.advance(50);
    caller.abort(reason);
    await b.clock.advance(50);
    expect(seen.value).toBe("ended");
    expect(b.keys()).toEqual([]);
  });

  it("ends the wait", async () => {
    const b = bench();
    b.occupy([0, 1, 2]);
    const caller = new AbortController();
    let ran = false;
    const seen = b.watch(
      b.redlock().using("a", { signal: caller.signal }, () => {
        ran = true;
      }),
    );
    await b.clock.advance(50);
    caller.abort("stop");
    await b.clock.settle();
    expect(seen).toMatchObject({ state: "rejected", error: "stop", atMs: 50 });
    expect(ran).toBe(false);
  });

  it("does not abort the lease of a plain acquire", async () => {
    const b = bench(3);
    const caller = new AbortController();
    const lease = await b.run(b.redlock().acquire("a", { signal: caller.signal }));
    caller.abort();
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    await b.release(lease);
  });
});

describe("tryUsing", () => {
  it("runs the work where the resource is free", async () => {
    const b = bench();
    const result = await b.run(b.redlock().tryUsing("a", () => 42));
    expect(result).toEqual({ ran: true, value: 42 });
    expect(b.keys()).toEqual([]);
  });

  it("skips it where somebody else holds the resource, and says for how long", async () => {
    const b = bench();
    b.occupy([0, 1, 2, 3, 4], 5_000);
    let ran = false;
    const result = await b.run(
      b.redlock().tryUsing("a", () => {
        ran = true;
      }),
    );
    expect(result).toEqual({ ran: false, remainingMs: 5_000 });
    expect(ran).toBe(false);
  });

  it("skips it after a split vote, and does not say for how long: nobody holds", async () => {
    const b = bench(3);
    for (const index of [0, 1, 2]) b.occupy([index], 5_000, `other-${index}`);
    const result = await b.run(b.redlock().tryUsing("a", () => 1));
    expect(result).toEqual({ ran: false, remainingMs: undefined });
  });

  it("skips it without I/O where this very object holds the resource", async () => {
    const b = bench();
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    const count = b.sent().length;
    expect(await b.run(redlock.tryUsing("a", () => 1))).toEqual({ ran: false, remainingMs: 9_898 });
    expect(b.sent()).toHaveLength(count);
    await b.release(lease);
  });

  it("throws where nobody knows", async () => {
    const b = bench();
    for (const node of b.nodes) node.memory.kill();
    const error = await b.failure(b.redlock().tryUsing("a", () => 1));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
  });

  it("throws what the work throws, also an error that looks like a held resource", async () => {
    const b = bench();
    const redlock = b.redlock();
    b.occupy([0, 1, 2], 5_000, "other", "lock:b");
    const error = await b.failure(redlock.tryUsing("a", () => redlock.acquire("b", { waitMs: 0 })));
    expect(error).toMatchObject({ code: "RESOURCE_HELD", resources: ["b"] });
  });

  it("takes onLost and extends automatically like using", async () => {
    const b = bench();
    const result = await b.run(
      b.redlock({ ttlMs: 1_000 }).tryUsing("a", async (lease) => {
        await new Promise<void>((resolve) => void b.clock.after(5_000, resolve));
        return lease.isHeld();
      }),
    );
    expect(result).toEqual({ ran: true, value: true });
    const error = await b.failure(
      b.redlock({ ttlMs: 1_000 }).tryUsing(
        "a",
        async () => {
          for (const node of b.nodes) node.memory.flush();
          await new Promise<void>((resolve) => void b.clock.after(2_000, resolve));
        },
        { onLost: "throw" },
      ),
    );
    expect(error).toMatchObject({ code: "LEASE_LOST" });
  });
});

describe("await using", () => {
  it("releases at the end of the scope, also when it throws", async () => {
    const b = bench();
    const redlock = b.redlock();
    const scope = async (fails: boolean): Promise<void> => {
      await using lease = await redlock.acquire("a");
      expect(lease.isHeld()).toBe(true);
      if (fails) throw new Error("in the scope");
    };
    await b.run(scope(false));
    expect(b.keys()).toEqual([]);
    expect(await b.failure(scope(true))).toMatchObject({ message: "in the scope" });
    expect(b.keys()).toEqual([]);
  });

  it("closes a Redlock at the end of the scope", async () => {
    const b = bench();
    const outside = async () => {
      await using redlock = b.redlock();
      await redlock.using("a", () => {});
      return redlock;
    };
    const redlock = await b.run(outside());
    expect(await b.failure(redlock.acquire("a"))).toMatchObject({ code: "CLOSED" });
  });
});
