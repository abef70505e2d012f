import { describe, expect, it } from "vitest";
import { planOf } from "../../chaos/plan.ts";
import { failuresOf, summaryOf } from "../../chaos/report.ts";
import { runChaos } from "../../chaos/run-chaos.ts";
import { chosenSeed } from "../../chaos/seed.ts";

const seconds = Number(process.env["CHAOS_SECONDS"] ?? 60);
const ROUND_ABOUT_MS = 90_000;

describe("four client processes on five real servers", () => {
  it(
    "exclude each other whatever fails, and leave nothing behind",
    async () => {
      const report = await runChaos({ seed: chosenSeed(), seconds });
      console.log(summaryOf(report));
      expect(failuresOf(report), summaryOf(report)).toEqual([]);
      expect(Object.keys(report.faults).length).toBeGreaterThan(seconds >= 60 ? 7 : 0);
    },
    seconds * 1_000 + ROUND_ABOUT_MS,
  );

  it.each(["no-lease", "overstays"] as const)(
    "are caught when one of them breaks the rules: %s",
    async (broken) => {
      // Starting takes its time on a busy machine, and a lease has to run out while somebody else waits.
      const report = await runChaos({ seed: 1, seconds: 15, broken });
      expect(report.overlaps.length).toBeGreaterThan(0);
      expect(failuresOf(report)[0]).toMatch(/^overlap of \d+ ms: client/);
    },
    15_000 + ROUND_ABOUT_MS,
  );
});

describe("the plan of faults", () => {
  const size = { servers: 5, clients: 4, durationMs: 300_000, ttlMs: 1_500 };

  it("is the same for the same seed, and another for another", () => {
    expect(planOf(7, size)).toEqual(planOf(7, size));
    expect(planOf(8, size)).not.toEqual(planOf(7, size));
  });

  it("has every kind of fault and leaves a majority outside of outages", () => {
    const plan = planOf(7, size);
    const kinds = plan.map((step) => (step.what === "node" ? step.fault.kind : step.what));
    expect(new Set(kinds).size).toBe(10);
    for (const { startMs } of plan) {
      const active = plan.filter((step) => step.startMs <= startMs && step.endMs > startMs);
      const nodes = active.filter(({ what }) => what === "node").length;
      const isOutage = active.some(({ what }) => what === "outage");
      expect(nodes).toBeLessThanOrEqual(isOutage ? 0 : 2);
    }
  });
});
