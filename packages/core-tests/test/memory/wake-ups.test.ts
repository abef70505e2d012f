import { describe, expect, it } from "vitest";
import { type Bench, bench, heard } from "./bench.ts";
import { only, type TappedNode } from "./tapped-node.ts";

/** Nodes that tell of releases. */
function tellingBench(nodes: number, tells = nodes): Bench {
  const b = bench(nodes);
  for (const node of b.nodes.slice(0, tells)) tell(node);
  return b;
}

function tell(node: TappedNode): void {
  node.subscribe = (channel, listener) => node.memory.subscribe(channel, listener);
}

/** How many subscriptions are open, on all nodes. */
const subscriptions = (b: Bench): number =>
  b.nodes.reduce((sum, { memory }) => sum + memory.subscriptions, 0);

/** Who waits has made its attempts and sleeps. */
async function settled(b: Bench): Promise<void> {
  await b.clock.advance(5);
}

describe("whoever waits", () => {
  it("gets the lock as soon as a release is heard of, long before the backoff ends", async () => {
    const b = tellingBench(5);
    const [holder, other] = [b.redlock(), b.redlock({ retryDelayMs: 5_000 })];
    const lease = await b.run(holder.acquire("a"));
    const waiter = b.watch(other.acquire("a"));
    await settled(b);
    await b.release(lease);
    await b.clock.advance(1);
    expect(waiter.state).toBe("resolved");
    await b.release(waiter.value);
  });

  it("is woken where only some nodes can tell, a few milliseconds after the first", async () => {
    const b = tellingBench(5, 1);
    const [holder, other] = [b.redlock(), b.redlock({ retryDelayMs: 5_000 })];
    const lease = await b.run(holder.acquire("a"));
    const waiter = b.watch(other.acquire("a"));
    await settled(b);
    await b.release(lease);
    await b.clock.advance(6);
    expect(waiter.state).toBe("resolved");
    await b.release(waiter.value);
  });

  it("does not miss what is released before its subscription is confirmed", async () => {
    const b = tellingBench(3);
    for (const node of b.nodes) {
      node.subscribe = async (channel, listener) => {
        await new Promise<void>((resolve) => void b.clock.after(50, resolve));
        return node.memory.subscribe(channel, listener);
      };
    }
    const [holder, other] = [b.redlock(), b.redlock({ retryDelayMs: 5_000 })];
    const lease = await b.run(holder.acquire("a"));
    const waiter = b.watch(other.acquire("a"));
    await settled(b);
    await b.release(lease);
    await b.clock.advance(40);
    expect(waiter.state).toBe("pending");
    await b.clock.advance(10);
    expect(waiter.state).toBe("resolved");
    await b.release(waiter.value);
  });

  it.each<[what: string, subscribe: TappedNode["subscribe"]]>([
    ["rejects", () => Promise.reject(new Error("NOPERM"))],
    [
      "throws",
      () => {
        throw new Error("no subscriptions here");
      },
    ],
    ["never settles", () => new Promise(() => {})],
    ["confirms and never tells", async () => async () => {}],
    ["cannot be ended", async () => () => Promise.reject(new Error("gone"))],
  ])("goes by its backoff where a subscription %s", async (_, subscribe) => {
    const b = bench(3);
    for (const node of b.nodes) node.subscribe = subscribe as NonNullable<TappedNode["subscribe"]>;
    const [holder, other] = [b.redlock(), b.redlock({ retryDelayMs: 100 })];
    const lease = await b.run(holder.acquire("a"));
    const waiter = b.watch(other.acquire("a"));
    await settled(b);
    await b.release(lease);
    await b.clock.advance(200);
    expect(waiter.state).toBe("resolved");
    await b.release(waiter.value);
  });

  it("loses an attempt, and nothing else, by a message without a release", async () => {
    const b = tellingBench(3);
    const [holder, other] = [b.redlock(), b.redlock({ retryDelayMs: 5_000 })];
    const attempts = heard(other, "attempt");
    const lease = await b.run(holder.acquire("a"));
    const waiter = b.watch(other.acquire("a"));
    await settled(b);
    const before = attempts.length;
    for (const { memory } of b.nodes) memory.execute(["PUBLISH", "lock:a", ""]);
    await settled(b);
    expect(attempts).toHaveLength(before + 1);
    expect(waiter.state).toBe("pending");
    await b.release(lease);
    await b.clock.advance(1);
    await b.release(waiter.value);
  });

  it("subscribes to nothing with wakeUp: false, and its releases tell nobody", async () => {
    const b = tellingBench(3);
    const [holder, other] = [b.redlock({ wakeUp: false }), b.redlock({ wakeUp: false })];
    const lease = await b.run(holder.acquire("a"));
    const waiting = other.acquire("a");
    await settled(b);
    expect(subscriptions(b)).toBe(0);
    await b.release(lease);
    expect(channelsOf(b)).toEqual([]);
    await b.release(await b.run(waiting));
  });
});

/** The channels that each release was told to publish to. */
const channelsOf = (b: Bench): string[][] =>
  b
    .sent("release")
    .map(({ command }) => command.slice(Number(command[2]) + 5))
    .filter((channels) => channels.length > 0);

describe("a subscription", () => {
  it("ends a second after the last one who waits, at once by close", async () => {
    const b = tellingBench(3);
    const [holder, other] = [b.redlock(), b.redlock()];
    const lease = await b.run(holder.acquire("a"));
    await b.failure(other.acquire("a", { waitMs: 50 }));
    expect(subscriptions(b)).toBe(3);
    await b.clock.advance(1_001);
    expect(subscriptions(b)).toBe(0);
    await b.failure(other.acquire("a", { waitMs: 50 }));
    expect(subscriptions(b)).toBe(3);
    await b.run(other.close());
    expect(subscriptions(b)).toBe(0);
    await b.release(lease);
  });

  it("lasts for a second after whoever waited last, and leaves nothing where they come and go", async () => {
    const b = tellingBench(3);
    const [holder, other] = [b.redlock(), b.redlock()];
    const lease = await b.run(holder.acquire("a", { ttlMs: 20_000 }));
    const patience = async (): Promise<void> => {
      await b.failure(other.acquire("a", { waitMs: 50 }));
    };
    await patience();
    await b.clock.advance(900);
    await patience();
    await b.clock.advance(500);
    expect(subscriptions(b)).toBe(3);
    await b.clock.advance(501);
    expect(subscriptions(b)).toBe(0);
    await patience();
    await b.clock.advance(2_000);
    expect(subscriptions(b)).toBe(0);
    await b.release(lease);
  });

  it("is none where nobody has to wait", async () => {
    const b = tellingBench(3);
    const redlock = b.redlock();
    await b.release(await b.run(redlock.acquire("a")));
    await b.release(await b.run(redlock.tryAcquire("a")));
    expect(subscriptions(b)).toBe(0);
  });

  it("is one for all who wait for a resource in one process", async () => {
    const b = tellingBench(3);
    const [holder, other] = [b.redlock(), b.redlock()];
    const lease = await b.run(holder.acquire("a"));
    const waiting = [1, 2, 3].map(() => other.acquire("a"));
    await settled(b);
    expect(subscriptions(b)).toBe(3);
    await b.release(lease);
    for (const next of waiting) await b.release(await b.run(next));
  });
});

describe("a release tells", () => {
  it("on the channels of its keys", async () => {
    const b = tellingBench(3);
    await b.release(await b.run(b.redlock().acquire(["a", "b"])));
    expect(channelsOf(b)).toEqual(b.nodes.map(() => ["lock:a", "lock:b"]));
  });

  it("nothing where it undoes an attempt", async () => {
    const b = tellingBench(3);
    const lease = await b.run(b.redlock().acquire("a"));
    expect(await b.run(b.redlock().tryAcquire("a"))).toBeNull();
    expect(b.sent("release")).not.toEqual([]);
    expect(channelsOf(b)).toEqual([]);
    await b.release(lease);
  });

  it("nothing where the keys stand for the rest of minHoldMs", async () => {
    const b = tellingBench(3);
    await b.release(await b.run(b.redlock().acquire("a", { minHoldMs: 1_000 })));
    expect(channelsOf(b)).toEqual([]);
    await b.clock.advance(1_001);
  });

  it("others where whoever is next in the process still waits for another resource", async () => {
    const b = tellingBench(3);
    const redlock = b.redlock();
    const [first, second] = [await b.run(redlock.acquire("a")), await b.run(redlock.acquire("b"))];
    const both = redlock.acquire(["a", "b"]);
    await settled(b);
    await b.release(first);
    expect(channelsOf(b)).toEqual(b.nodes.map(() => ["lock:a"]));
    await b.release(second);
    await b.release(await b.run(both));
  });

  it("nothing where somebody of the same process is next, eight times in a row", async () => {
    const b = tellingBench(3);
    const redlock = b.redlock();
    const waiting = Array.from({ length: 12 }, () => redlock.acquire("a"));
    for (const next of waiting) await b.release(await b.run(next));
    // The ninth lets others go first; behind the last one nobody waits.
    expect(channelsOf(b)).toHaveLength(2 * 3);
  });
});

describe("where commands arrive in the order in which they are sent", () => {
  it("whoever is next in the process sends its commands right behind the release", async () => {
    const b = bench(3);
    for (const node of b.nodes) Object.assign(node, { ordered: true });
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    const next = redlock.acquire("a");
    await settled(b);
    const before = b.sent().length;
    const released = lease.release();
    await Promise.resolve()
      .then(() => {})
      .then(() => {});
    expect(
      b
        .node(0)
        .sent.slice(-2)
        .map(({ kind }) => kind),
    ).toEqual(["release", "acquire"]);
    expect(b.sent()).toHaveLength(before + 6);
    await b.run(released);
    await b.release(await b.run(next));
  });

  it("but not while an extension is in flight, which the release has to wait for", async () => {
    const b = bench(3);
    for (const node of b.nodes) {
      Object.assign(node, { ordered: true });
      node.fault = only("extend", async (_, execute) => {
        await new Promise<void>((resolve) => void b.clock.after(30, resolve));
        return execute();
      });
    }
    const redlock = b.redlock();
    const lease = await b.run(redlock.acquire("a"));
    const next = redlock.acquire("a");
    const extended = lease.extend().catch(() => {});
    await settled(b);
    const released = lease.release();
    await b.clock.advance(20);
    expect(b.sent("acquire")).toHaveLength(3);
    await b.run(Promise.all([released, extended]));
    await b.release(await b.run(next));
    await b.clock.advance(40);
  });
});
