import { describe, expect, it } from "vitest";
import { bench } from "./bench.ts";
import {
  type Fault,
  first,
  late,
  lateAndMute,
  lateRefusal,
  lost,
  mute,
  only,
  refused,
  slowReply,
} from "./tapped-node.ts";

describe("a straggler that grants", () => {
  it("after a lost verdict is released again when its answer arrives", async () => {
    const b = bench();
    b.occupy([0, 1, 2]);
    for (const node of b.nodes.slice(3)) node.fault = only("acquire", late(b.clock, 3_000));
    await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    await b.clock.advance(2_999);
    expect(b.keys()).toEqual([]);
    await b.clock.advance(1);
    expect(b.keys()).toEqual([]);
    expect(b.node(3).sent.at(-1)?.kind).toBe("release");
  });

  it("after an abort is released again when its answer arrives", async () => {
    const b = bench(3);
    for (const node of b.nodes) node.fault = only("acquire", late(b.clock, 300));
    const caller = new AbortController();
    const seen = b.watch(b.redlock().acquire("a", { signal: caller.signal }));
    await b.clock.advance(100);
    caller.abort(new Error("enough"));
    await b.clock.settle();
    expect(seen.error).toMatchObject({ message: "enough" });
    await b.clock.advance(200);
    expect(b.keys()).toEqual([]);
  });

  it("after the lease was released is released again when its answer arrives", async () => {
    const b = bench();
    b.node(4).fault = only("acquire", late(b.clock, 2_000));
    const lease = await b.run(b.redlock().acquire("a"));
    expect(await b.release(lease)).toBe("released");
    await b.clock.advance(2_000);
    expect(b.keys()).toEqual([]);
    expect(lease.votes.filter(({ outcome }) => outcome === "granted")).toHaveLength(5);
  });

  it("after its time limit, when nobody had an answer, is released again", async () => {
    const b = bench(3);
    for (const node of b.nodes) node.fault = only("acquire", late(b.clock, 700));
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    expect(error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    expect(b.clock.now).toBe(500);
    await b.clock.advance(200);
    expect(b.keys()).toEqual([]);
  });

  it("long after its ttl is released until it is gone: the first release may fail", async () => {
    const b = bench(3);
    b.occupy([1, 2]);
    b.node(0).fault = only("acquire", late(b.clock, 5_000));
    await b.failure(b.redlock({ ttlMs: 1_000 }).acquire("a", { waitMs: 0 }));
    await b.clock.advance(4_999);
    b.node(0).fault = only("release", first(1, refused));
    await b.clock.advance(1);
    expect(b.keys()).toEqual(["node-1 lock:a=t1"]);
    await b.clock.advance(100);
    expect(b.keys()).toEqual([]);
  });

  // Until mended: the claim's one signal has aborted when the first pursuit ended.
  it("long after its ttl is released by a command that is not called off beforehand", async () => {
    const b = bench(3);
    b.occupy([1, 2]);
    b.node(0).fault = only("acquire", late(b.clock, 5_000));
    await b.failure(b.redlock({ ttlMs: 1_000 }).acquire("a", { waitMs: 0 }));
    await b.clock.advance(4_999);
    // As a driver does that sends nothing whose signal has aborted.
    b.node(0).fault = only("release", ({ options: { signal } }, execute) =>
      signal.aborted ? Promise.reject(signal.reason) : execute(),
    );
    await b.clock.advance(100);
    const left = b.keys();
    await b.clock.advance(1_000);
    expect(left).toEqual([]);
  });

  it("after a won verdict strengthens the lease", async () => {
    const b = bench();
    for (const node of b.nodes.slice(3)) node.fault = only("acquire", late(b.clock, 2_000));
    const lease = await b.run(b.redlock().acquire("a"));
    await b.clock.advance(1_000);
    expect(lease.votes.filter(({ outcome }) => outcome === "failed")).toHaveLength(2);
    await b.clock.advance(1_000);
    expect(lease.votes.filter(({ outcome }) => outcome === "granted")).toHaveLength(5);
    expect(b.values()).toEqual(["t1", "t1", "t1", "t1", "t1"]);
    await b.release(lease);
  });

  it("after the lease was lost is released again", async () => {
    const b = bench();
    b.node(4).fault = only("acquire", late(b.clock, 5_000));
    const redlock = b.redlock({ ttlMs: 4_000 });
    const lease = await b.run(redlock.acquire("a"));
    await b.clock.advance(4_000);
    expect(lease.isHeld()).toBe(false);
    await b.clock.advance(1_000);
    expect(b.keys()).toEqual([]);
  });

  it("after the handle was given away is left alone: the key is the new holder's", async () => {
    const b = bench();
    b.node(4).fault = only("acquire", late(b.clock, 1_000));
    const lease = await b.run(b.redlock().acquire("a"));
    const adopted = await b.run(b.redlock().restore(lease.handOver()));
    await b.clock.advance(1_000);
    expect(b.values()[4]).toBe("t1");
    await b.release(adopted);
    await b.clock.settle();
  });
});

describe("a command that executes late and is never answered", () => {
  it.each([100, 600, 1_400, 3_000, 7_000, 9_900])(
    "leaves no key once background work had its time: executed after %i ms",
    async (ms) => {
      const b = bench(3);
      for (const node of b.nodes) node.fault = only("acquire", lateAndMute(b.clock, ms));
      await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
      // By then every command that was under way when the ttl ended has been released.
      await b.clock.advance(10_001);
      expect(b.keys()).toEqual([]);
    },
  );

  it("is released after 1, 2, 4, … node time limits until the ttl has passed", async () => {
    const b = bench(3);
    b.occupy([1, 2]);
    b.node(0).fault = only("acquire", mute);
    await b.failure(b.redlock({ ttlMs: 10_000, nodeTimeoutMs: 100 }).acquire("a", { waitMs: 0 }));
    await b.clock.advance(20_000);
    const releases = b.node(0).sent.filter(({ kind }) => kind === "release");
    const [undo = 0, ...again] = releases.map(({ atMs }) => atMs);
    expect(undo).toBe(0);
    const pauses = again.map((atMs, index) => atMs - (again[index - 1] ?? undo));
    expect(pauses.slice(0, 6)).toEqual([100, 200, 400, 800, 1_600, 3_200]);
    expect(again.at(-1)).toBeGreaterThanOrEqual(10_000);
    expect(releases.length).toBeLessThan(12);
  });

  it("is released again after a lease that was won without it has ended", async () => {
    const b = bench(3);
    b.node(0).fault = only("acquire", lateAndMute(b.clock, 1_000));
    const lease = await b.run(b.redlock().acquire("a"));
    await b.release(lease);
    await b.clock.advance(1_001);
    await b.clock.advance(2_000);
    expect(b.keys()).toEqual([]);
  });

  it("is released again where the driver rejected it: a cut connection tells nothing", async () => {
    const b = bench(3);
    for (const node of b.nodes) {
      node.fault = only("acquire", (sent, execute) => {
        b.clock.after(800, () => void execute());
        return refused(sent, execute);
      });
    }
    await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    await b.clock.advance(800);
    await b.clock.advance(2_000);
    expect(b.keys()).toEqual([]);
  });
});

describe("a command that was never sent", () => {
  const unsent: Fault = () =>
    Promise.reject(Object.assign(new Error("not connected"), { code: "NOT_SENT" }));

  it("is not released again and again: nothing can come of it", async () => {
    const b = bench(3);
    b.occupy([1, 2], 60_000);
    b.quietAfterMs = 61_000;
    b.node(0).fault = unsent;
    await b.failure(b.redlock({ ttlMs: 60_000 }).acquire("a", { waitMs: 0 }));
    await b.clock.advance(60_000);
    expect(b.node(0).sent.map(({ kind }) => kind)).toEqual(["acquire", "release"]);
  });

  it("is not released again and again after a lease that was won without it", async () => {
    const b = bench(3);
    b.node(0).fault = unsent;
    const lease = await b.run(b.redlock().acquire("a"));
    expect(await b.release(lease)).toBe("released");
    await b.clock.advance(10_000);
    expect(b.node(0).sent.map(({ kind }) => kind)).toEqual(["acquire", "release"]);
  });
});

describe("a release that was executed before the command it should undo", () => {
  it("says nothing of that command's key, though it is answered last", async () => {
    const b = bench(3);
    b.occupy([1, 2]);
    let releases = 0;
    b.node(0).fault = (sent, execute) => {
      if (sent.kind === "acquire") return late(b.clock, 100)(sent, execute);
      releases++;
      if (releases === 1) return slowReply(b.clock, 200)(sent, execute);
      return releases === 2 ? refused(sent, execute) : execute();
    };
    await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    await b.clock.advance(100);
    expect(releases).toBe(2);
    expect(b.keys()).toHaveLength(1);
    await b.clock.advance(1_000);
    expect(b.keys()).toEqual([]);
  });
});

describe("an undo", () => {
  it("goes to every node: also to those that denied, failed or have not answered", async () => {
    const b = bench();
    b.occupy([0, 1]);
    b.node(2).fault = only("acquire", refused);
    b.node(3).fault = only("acquire", lost);
    await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    for (const node of b.nodes) {
      expect(node.sent.map(({ kind }) => kind).slice(0, 2)).toEqual(["acquire", "release"]);
    }
    await b.clock.advance(11_000);
  });

  it("starts at the lost verdict, before the class of the error is known", async () => {
    const b = bench();
    b.occupy([0, 1]);
    b.node(2).fault = only("acquire", lateRefusal(b.clock, 10));
    b.node(3).fault = only("acquire", slowReply(b.clock, 400));
    b.node(4).fault = only("acquire", lost);
    const seen = b.watch(b.redlock().acquire("a", { waitMs: 0 }));
    await b.clock.advance(10);
    expect(b.sent("release")).toHaveLength(5);
    expect(seen.state).toBe("pending");
    await b.clock.advance(390);
    expect(seen.error).toMatchObject({ code: "RESOURCE_HELD" });
    await b.clock.advance(11_000);
  });

  it("never publishes and never touches another holder's key", async () => {
    const b = bench(3);
    b.occupy([0, 1], 5_000, "other");
    await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    await b.clock.settle();
    expect(b.values()).toEqual(["other", "other", null]);
  });

  it("is waited for by the next attempt on the same node, at most one time limit", async () => {
    const b = bench(3);
    b.occupy([0, 1], 50);
    const firstRelease = { done: false };
    b.node(2).fault = only("release", async (sent, execute) => {
      if (firstRelease.done) return execute();
      firstRelease.done = true;
      return late(b.clock, 300)(sent, execute);
    });
    const lease = await b.run(b.redlock({ nodeTimeoutMs: 500 }).acquire("a"));
    await b.clock.advance(500);
    expect(b.values()[2]).toBe(lease.token);
    await b.release(lease);
  });

  it("that hangs does not keep the next attempt from that node for longer than the limit", async () => {
    const b = bench(3);
    b.occupy([0, 1], 50);
    b.node(2).fault = only("release", lost);
    const lease = await b.run(b.redlock({ nodeTimeoutMs: 200 }).acquire("a"));
    await b.clock.advance(400);
    const acquires = b.node(2).sent.filter(({ kind }) => kind === "acquire");
    expect(acquires.map(({ atMs }) => atMs)).toEqual([0, 200]);
    b.node(2).fault = undefined;
    await b.release(lease);
    await b.clock.advance(1_000);
  });
});

describe("a hung majority", () => {
  it.each([0, 700, 2_000])("is answered within waitMs + one nodeTimeoutMs: %i", async (waitMs) => {
    const b = bench();
    for (const node of b.nodes.slice(0, 3)) node.memory.hang();
    const seen = b.watch(b.redlock().acquire("a", { waitMs, nodeTimeoutMs: 300 }));
    await b.clock.advance(waitMs + 300);
    expect(seen.error).toMatchObject({ code: "QUORUM_UNREACHABLE" });
    for (const node of b.nodes) node.memory.resume();
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it("keeps nobody: a node's own advice bounds it too", async () => {
    const b = bench(1);
    const slow = { ...b.node(0), timeoutMs: 50, send: () => new Promise<never>(() => {}) };
    const { Redlock } = await import("@redlatch/core");
    const redlock = new Redlock([slow], { clock: b.clock });
    await b.failure(redlock.acquire("a", { waitMs: 0 }));
    expect(b.clock.now).toBe(50);
  });

  it("resolves a release as unreachable after one limit and goes on in the background", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    for (const node of b.nodes.slice(0, 3)) node.memory.hang();
    expect(await b.release(lease)).toBe("unreachable");
    expect(b.clock.now).toBe(500);
    for (const node of b.nodes) node.memory.resume();
    await b.clock.settle();
    expect(b.keys()).toEqual([]);
  });

  it("that refuses the release gets it again until the keys have gone", async () => {
    const b = bench();
    const lease = await b.run(b.redlock().acquire("a"));
    for (const node of b.nodes.slice(0, 3)) node.fault = only("release", refused);
    expect(await b.release(lease)).toBe("unreachable");
    for (const node of b.nodes) node.fault = undefined;
    await b.clock.advance(500);
    expect(b.keys()).toEqual([]);
  });
});
