import { describe, expect, it } from "vitest";
import { backoffMs } from "../src/backoff.ts";

const settings = { retryDelayMs: 100, retryJitter: 0.5 };
const MIDDLE = 0.5;
const ALMOST_1 = 1 - 2 ** -53;

describe("the wait between two attempts", () => {
  it("doubles with each attempt up to ten times the base", () => {
    const waits = [0, 1, 2, 3, 4, 5, 50, 5_000].map((n) => backoffMs(settings, n, 0, MIDDLE));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
  });

  it("is based on twice the last round where that is longer than the delay asked for", () => {
    expect(backoffMs(settings, 0, 50, MIDDLE)).toBe(100);
    expect(backoffMs(settings, 0, 51, MIDDLE)).toBe(102);
    expect(backoffMs(settings, 0, 500, MIDDLE)).toBe(1_000);
    expect(backoffMs(settings, 9, 500, MIDDLE)).toBe(10_000);
  });

  it("is spread by the jitter in both directions and never beyond", () => {
    expect(backoffMs(settings, 0, 0, 0)).toBe(50);
    expect(backoffMs(settings, 0, 0, ALMOST_1)).toBeLessThanOrEqual(150);
    expect(backoffMs(settings, 0, 0, ALMOST_1)).toBeGreaterThan(149.9);
  });

  it("stays above 0 and finite for every jitter, attempt and round", () => {
    for (const retryJitter of [0, 0.1, 0.5, 0.99]) {
      for (const attempts of [0, 1, 5, 2_000]) {
        for (const roundMs of [0, 0.1, 1_000]) {
          for (const uniform of [0, 0.25, MIDDLE, ALMOST_1]) {
            const baseMs = Math.max(100, 2 * roundMs) * Math.min(2 ** attempts, 10);
            const wait = backoffMs({ retryDelayMs: 100, retryJitter }, attempts, roundMs, uniform);
            expect(wait).toBeGreaterThan(0);
            expect(wait).toBeGreaterThanOrEqual(baseMs * (1 - retryJitter) - 1e-6);
            expect(wait).toBeLessThanOrEqual(baseMs * (1 + retryJitter) + 1e-6);
          }
        }
      }
    }
  });

  it("is the base itself without jitter", () => {
    const steady = { retryDelayMs: 70, retryJitter: 0 };
    for (const uniform of [0, 0.3, ALMOST_1]) expect(backoffMs(steady, 0, 0, uniform)).toBe(70);
  });
});
