import { reportOf, shrink, simulate } from "@redlatch/testing/simulator";
import { expect } from "vitest";

/** Simulates seeds; the first one that breaks a promise fails the test with its plan and timeline. */
export async function expectSeeds(from: number, count: number): Promise<void> {
  let acquisitions = 0;
  let faults = 0;
  for (let seed = from; seed < from + count; seed++) {
    const result = await simulate({ seed });
    if (result.violations.length > 0) {
      expect.fail(reportOf(await shrink({ seed }, result)));
    }
    expect(result.acquisitions).toBeGreaterThanOrEqual(20);
    expect(result.faults.length).toBeGreaterThanOrEqual(5);
    acquisitions += result.acquisitions;
    faults += result.faults.length;
  }
  console.log(`seeds ${from} to ${from + count - 1}: ${acquisitions} leases, ${faults} faults`);
}
