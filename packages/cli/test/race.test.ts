import { setTimeout as sleep } from "node:timers/promises";
import { LeaseLostError, Redlock } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import { embeddedNodes } from "../src/demo/embedded-nodes.ts";
import { Race, type RaceOptions, type Section } from "../src/demo/race.ts";
import { lockedSection, openSection } from "../src/demo/sections.ts";

const never = new AbortController().signal;

function raceOf(section: Section, options: Partial<RaceOptions> = {}): Race {
  return new Race({
    workers: 4,
    section,
    pause: () => sleep(5),
    rest: () => sleep(1),
    nowMs: () => performance.now(),
    ...options,
  });
}

/** Says yes this many times. */
function budget(turns: number): () => boolean {
  let begun = 0;
  return () => begun++ < turns;
}

/** Each worker has a Redlock of its own over the same nodes. */
function lockOver(nodeSet = embeddedNodes()): Section {
  const redlocks = new Map<string, Redlock>();
  const redlockOf = (worker: string): Redlock => {
    const redlock = redlocks.get(worker) ?? new Redlock(nodeSet.connect(), { nodeTimeoutMs: 50 });
    redlocks.set(worker, redlock);
    return redlock;
  };
  return lockedSection(redlockOf, "race", 1_000);
}

describe("the race", () => {
  it("loses no update under the lock", async () => {
    const race = raceOf(lockOver());
    await race.run(budget(40), never);
    expect(race).toMatchObject({ updates: 40, counter: 40, lostUpdates: 0, mostInside: 1 });
  });

  it("loses none while one node is killed and another hangs", async () => {
    const nodeSet = embeddedNodes();
    nodeSet.nodes[1]?.kill();
    nodeSet.nodes[3]?.hang();
    const race = raceOf(lockOver(nodeSet));
    await race.run(budget(20), never);
    expect(race).toMatchObject({ updates: 20, counter: 20, mostInside: 1 });
  });

  it("loses updates without the lock", async () => {
    const race = raceOf(openSection);
    await race.run(budget(40), never);
    expect(race.updates).toBe(40);
    expect(race.lostUpdates).toBeGreaterThan(0);
    expect(race.counter + race.lostUpdates).toBe(40);
    expect(race.mostInside).toBe(4);
  });

  it("leaves the counter alone where the lease was lost", async () => {
    const lost = (): never => {
      throw new LeaseLostError(["race"], "was lost");
    };
    const race = raceOf((_worker, work) => work({ assertHeld: lost }));
    await race.run(budget(3), never);
    expect(race).toMatchObject({ updates: 0, counter: 0, leasesLost: 3 });
  });

  it("counts a wait that the end of the race cut short", async () => {
    const nodeSet = embeddedNodes();
    for (const node of nodeSet.nodes) node.kill();
    const race = raceOf(lockOver(nodeSet));
    await race.run(() => true, AbortSignal.timeout(200));
    expect(race.updates).toBe(0);
    expect(race.longestWaitMs).toBeGreaterThan(150);
  });

  it("ends with an error that is not the end of the race", async () => {
    const race = raceOf(() => Promise.reject(new Error("broken")));
    await expect(race.run(() => true, never)).rejects.toThrow("broken");
  });

  it("tells of each turn who counted and from where", async () => {
    const turns: unknown[] = [];
    const race = raceOf(lockOver(), { workers: 1, onTurn: (turn) => turns.push(turn) });
    await race.run(budget(2), never);
    expect(turns).toMatchObject([
      { worker: "worker-1", read: 0 },
      { worker: "worker-1", read: 1 },
    ]);
  });
});
