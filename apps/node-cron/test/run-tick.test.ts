import { setTimeout as sleep } from "node:timers/promises";
import { Redlock } from "@redlatch/core";
import { type MemoryNode, memoryNode } from "@redlatch/testing";
import { beforeEach, describe, expect, it } from "vitest";
import type { Job, Tick } from "../src/job.ts";
import { runTick } from "../src/run-tick.ts";

let nodes: MemoryNode[];
/** Every job that began. */
let started: string[];
const running = new AbortController().signal;

beforeEach(() => {
  nodes = [memoryNode(), memoryNode(), memoryNode()];
  started = [];
});

const tickOf = (lastsMs: number): Tick => {
  return { jobName: "report", at: new Date(), until: new Date(Date.now() + lastsMs) };
};

/** Takes the tick as a replica of its own. */
function take(name: string, tick: Tick, job: Job, signal = running) {
  const unreachable: Error[] = [];
  const outcome = runTick(
    new Redlock(nodes, { owner: name }),
    tick,
    (...given) => {
      started.push(name);
      return job(...given);
    },
    signal,
    { lockTtlMs: 1_000, onUnreachable: (error) => unreachable.push(error) },
  );
  return { outcome, unreachable };
}

const work: Job = () => sleep(30);
const fail: Job = async () => {
  throw new Error("no disk space");
};
/** Ends only by its signal. */
const never: Job = (_, signal) => sleep(60_000, undefined, { signal });

describe("a tick", () => {
  it("runs on one of those that take it, and the others learn of it", async () => {
    const tick = tickOf(5_000);
    const outcomes = ["one", "two", "three"].map((name) => take(name, tick, work).outcome);
    expect((await Promise.all(outcomes)).sort()).toEqual(["ran", "ran elsewhere", "ran elsewhere"]);
    expect(started).toHaveLength(1);
    expect(await take("late", tick, work).outcome).toBe("ran elsewhere");
  });

  it("that failed is left to another replica", async () => {
    const tick = tickOf(5_000);
    await expect(take("one", tick, fail).outcome).rejects.toThrow("no disk space");
    expect(await take("two", tick, work).outcome).toBe("ran");
    expect(started).toEqual(["one", "two"]);
  });

  it("that was interrupted is left to another replica", async () => {
    const tick = tickOf(5_000);
    const stopping = new AbortController();
    const first = take("one", tick, never, stopping.signal).outcome;
    setTimeout(() => stopping.abort(new Error("shut down")), 50);
    await expect(first).rejects.toThrow();
    expect(await take("two", tick, work).outcome).toBe("ran");
  });

  it("is over when the next one is due: the run is aborted, who waits gives up", async () => {
    const tick = tickOf(400);
    const first = take("one", tick, never).outcome;
    await expect(first).rejects.toThrow();
    expect(Date.now()).toBeGreaterThanOrEqual(tick.until.getTime() - 5);
    expect(await take("two", tick, work).outcome).toBe("given up");
    expect(started).toEqual(["one"]);
  });

  it("waits for a quorum", async () => {
    nodes[0]!.kill();
    nodes[1]!.kill();
    const { outcome, unreachable } = take("one", tickOf(5_000), work);
    setTimeout(() => nodes[1]!.restart(), 500);
    expect(await outcome).toBe("ran");
    expect(unreachable).toEqual([expect.objectContaining({ code: "QUORUM_UNREACHABLE" })]);
  });

  it("is done, though unmarked, when the quorum goes away under the run", async () => {
    const job: Job = async () => {
      nodes[0]!.kill();
      nodes[1]!.kill();
    };
    expect(await take("one", tickOf(5_000), job).outcome).toBe("ran unmarked");
  });
});
