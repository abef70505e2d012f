import { describe, expect, it } from "vitest";
import { runFixture } from "../harness/fixture.ts";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

/** The slope of a straight line through the values, per value. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value) / values.length;
  let [above, below] = [0, 0];
  values.forEach((value, at) => {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  });
  return above / below;
}

/** `pnpm soak` asks for more over HTTP and node-redis than the tests have time for. */
const AT_LEAST = Number(process.env["REDLATCH_CYCLES"] ?? 0);

export function cycles(harness: Harness, usual = 100_000, workers = 64): void {
  const count = Math.max(usual, AT_LEAST);
  describe(`${count} acquire/release cycles (${harness.title})`, () => {
    const bed = new Testbed(harness);

    it("leave a flat heap, no listener, no timer and no warning", {
      timeout: 480_000 + 40 * AT_LEAST,
    }, async () => {
      const { exited } = runFixture(harness, bed, "cycle", { cycles: count, workers });
      const { code, said, complaints } = await exited;
      expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
      const [{ heapBytes, cycles, ...left }] = said as [
        { heapBytes: number[]; cycles: number; [left: string]: unknown },
      ];
      expect(cycles).toBeGreaterThanOrEqual(count);
      expect(left).toEqual({ listeners: 0, timers: 0, active: 0, warnings: [], lost: 0 });
      // From 20 % on, and from 1,000 cycles: before, code is compiled and pools grow.
      const steady = heapBytes.slice(heapBytes.length * Math.max(0.2, 1_000 / cycles));
      const growth = slope(steady) * steady.length;
      // One small object per cycle would be more than 50 %.
      expect(growth).toBeLessThan(0.05 * (steady[0] as number));
      await bed.expectNothingLeft();
    });
  });
}
