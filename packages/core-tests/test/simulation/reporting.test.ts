import {
  reportOf,
  type SimulationResult,
  shrink,
  simulate,
  timelineOf,
} from "@redlatch/testing/simulator";
import { beforeAll, describe, expect, it } from "vitest";

// Node clocks beyond the assumed drift break the lock, among other faults that have no part in it.
const BROKEN = {
  faults: { count: 12, weights: { "node-clock-rate": 3, abort: 1, pause: 1, "flush-scripts": 1 } },
};

describe("a simulation that breaks a promise", () => {
  let options: Parameters<typeof simulate>[0];
  let result: SimulationResult;

  beforeAll(async () => {
    for (let seed = 0; !result?.violations.length; seed++) {
      options = { ...BROKEN, seed };
      result = await simulate(options);
    }
  });

  it("is found again with fewer faults, of which each is needed", async () => {
    const small = await shrink(options, result);
    expect(small.faults.length).toBeLessThan(result.faults.length);
    expect(small.violations[0]?.invariant).toBe(result.violations[0]?.invariant);
    for (const needed of small.faults) {
      const faults = small.faults.filter((fault) => fault !== needed);
      const without = await simulate({ ...options, faults });
      expect(without.violations[0]?.invariant).not.toBe(small.violations[0]?.invariant);
    }
  });

  it("is told with its seed, its plan and a timeline that ends with it", () => {
    const report = reportOf(result);
    const [violation] = result.violations;
    expect(report).toContain(`seed ${result.seed}: `);
    expect(report).toContain(`! ${violation?.invariant} ${violation?.message}`);
    for (const fault of result.faults) expect(report).toContain(`"kind":"${fault.kind}"`);
  });
});

describe("a timeline", () => {
  it("has a lane for each client and node, which shows who holds and who hangs", async () => {
    const result = await simulate({
      seed: 1,
      nodes: 3,
      clients: 2,
      traits: { resources: ["a"], drift: "none" },
      faults: [{ kind: "hang", atMs: 5, node: 2, durationMs: 20 }],
      options: { ttlMs: 200 },
      program: async (client) => {
        if (client.index > 0) return;
        const holding = await client.acquire("a");
        await client.sleep(40);
        await holding.release();
      },
    });
    const lines = timelineOf(result, { before: Infinity }).split("\n");
    expect(lines[0]).toMatch(/ms c1 +c2 +c3 +n1 +n2 +n3/);
    const lineWith = (text: string): string => lines.find((line) => line.includes(text)) as string;
    expect(lineWith("c1: holds")).toMatch(/● .*c1: holds c1-1 a/);
    expect(lineWith("n3: resumes")).toMatch(/█ .*● +n3: resumes/);
    expect(lineWith("c1: releases")).toBeDefined();
  });
});

describe("a critical section of one's own", () => {
  it("runs under the lock, again and again", async () => {
    let inside = 0;
    let runs = 0;
    const { violations } = await simulate({
      seed: 3,
      faults: [],
      traits: { resources: ["a"] },
      section: async (holding, client) => {
        runs++;
        if (++inside > 1) client.violate("overlap", "two are inside");
        await client.sleep(5);
        if (holding.isHeld()) client.log("works");
        inside--;
      },
    });
    expect(violations).toEqual([]);
    expect(runs).toBeGreaterThanOrEqual(20);
  });

  it("reports what it sees", async () => {
    const { violations } = await simulate({
      seed: 3,
      section: async (_, client) => client.violate("mine", "is broken"),
    });
    expect(violations[0]).toMatchObject({ invariant: "mine", message: "is broken" });
  });
});

it("refuses a seed that is no integer", async () => {
  await expect(simulate({ seed: 0.5 })).rejects.toThrow("seed must be an integer, got 0.5");
});
