import { pollUntil, type ServerPool, startServers } from "@redlatch/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Call, Endpoint } from "./endpoint.ts";
import { Replica, runToEnd } from "./replica.ts";

const PERIOD_MS = 3_000;
const SCHEDULE = "*/3 * * * * *";

let pool: ServerPool;
let endpoint: Endpoint;
let replicas: Replica[] = [];

beforeEach(async () => {
  [pool, endpoint] = await Promise.all([startServers(3), Endpoint.start()]);
});

afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.end("SIGKILL")));
  replicas = [];
  await endpoint[Symbol.asyncDispose]();
  await pool.stop();
});

async function startReplicas(names: readonly string[], lockTtlMs: number): Promise<void> {
  const settings = {
    REDIS_URLS: pool.servers.map(({ url }) => url).join(","),
    JOB_URL: endpoint.url,
    SCHEDULE,
    LOCK_TTL_MS: String(lockTtlMs),
  };
  replicas = names.map((name) => new Replica(name, settings));
  await Promise.all(replicas.map((replica) => replica.said("waiting")));
}

const called = (what: string, wanted: (call: Call) => boolean): Promise<Call> =>
  pollUntil(what, () => endpoint.calls.find(wanted), { timeoutMs: 3 * PERIOD_MS });

const runnerOf = ({ replica }: Call): Replica => replicas.find(({ name }) => name === replica)!;

const keyOf = ({ tick }: Call): string => `lock:cron:job/${tick}`;

/** The ticks that were called for: from the first to the last, none may be missing. */
function ticks(): number[] {
  return [...endpoint.byTick().keys()].map((tick) => Date.parse(tick));
}

describe("a job on three replicas", () => {
  it("runs once each tick, through the death of a Redis server and of its runner", async () => {
    await startReplicas(["one", "two", "three"], 1_000);
    // A tick that came before all of them were there proves less.
    endpoint.calls.length = 0;
    const first = await called("a first tick", ({ state }) => state === "finished");

    await pool.servers[1]!.kill();
    endpoint.hold(1);
    const held = await called("the next tick is under way", ({ tick }) => tick > first.tick);
    const killed = runnerOf(held);
    const others = replicas.filter((replica) => replica !== killed);
    expect(await killed.end("SIGKILL")).toBe(null);
    await called(
      "the tick is taken over",
      ({ tick, state, replica }) =>
        tick === held.tick && state === "finished" && replica !== held.replica,
    );
    await called("one more tick", ({ tick, state }) => tick > held.tick && state === "finished");

    expect(await Promise.all(others.map((replica) => replica.end("SIGTERM")))).toEqual([0, 0]);
    const all = ticks();
    expect(all).toEqual(all.map((_, index) => all[0]! + index * PERIOD_MS));
    for (const [tick, states] of endpoint.byTick()) {
      expect([tick, ...states]).toEqual([
        tick,
        ...(tick === held.tick ? ["broken"] : []),
        "finished",
      ]);
    }
  });

  it("goes to another replica at once when its runner is told to end", async () => {
    await startReplicas(["one", "two", "three"], 30_000);
    endpoint.calls.length = 0;
    endpoint.hold(1);
    const held = await called("a tick is under way", () => true);
    for (const server of pool.servers) {
      expect(Number(await server.command("PTTL", keyOf(held)))).toBeGreaterThan(10_000);
    }
    const toldMs = performance.now();
    expect(await runnerOf(held).end("SIGTERM")).toBe(0);
    const again = await called(
      "the tick is taken over",
      ({ tick, state, replica }) =>
        tick === held.tick && state === "finished" && replica !== held.replica,
    );
    // Its lock would have lasted for 30 s.
    expect(again.startedMs - toldMs).toBeLessThan(1_500);
    expect(held.state).toBe("broken");
    await Promise.all(replicas.map((replica) => replica.end("SIGTERM")));
    // The mark of a finished tick, which lasts longer than any lock.
    for (const server of pool.servers) {
      expect(Number(await server.command("PTTL", keyOf(held)))).toBeGreaterThan(60_000);
    }
  });
});

it("says what is wrong with its environment, and ends", async () => {
  const { code, stderr } = await runToEnd({ REDIS_URLS: "", SCHEDULE: "every day" });
  expect(code).toBe(1);
  expect(stderr).toContain("REDIS_URLS is missing: redis://host:port of each Redis");
  expect(stderr).toContain("SCHEDULE: CronPattern: invalid configuration format ('every day')");
  expect(stderr).not.toContain("    at ");
});
