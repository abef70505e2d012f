import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "../src/backoff.ts";
import { check } from "./seed.ts";

const positive = fc.double({ min: 1e-3, max: 1e9, noNaN: true });
const duration = fc.double({ min: 0, max: 1e9, noNaN: true });
const part = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempts = fc.oneof(fc.nat(6), fc.nat(1e6));
const MIDDLE = 0.5;

describe("the wait between two attempts", () => {
  it("lies within the jitter around its base, above 0 and finite", () => {
    check(
      fc.property(
        positive,
        part,
        attempts,
        duration,
        part,
        (retryDelayMs, retryJitter, n, roundMs, uniform) => {
          const settings = { retryDelayMs, retryJitter };
          const waitMs = backoffMs(settings, n, roundMs, uniform);
          const baseMs = backoffMs({ retryDelayMs, retryJitter: 0 }, n, roundMs, uniform);
          expect(Number.isFinite(waitMs)).toBe(true);
          expect(waitMs).toBeGreaterThan(0);
          expect(waitMs).toBeGreaterThanOrEqual(baseMs * (1 - retryJitter) * (1 - 1e-12));
          expect(waitMs).toBeLessThanOrEqual(baseMs * (1 + retryJitter) * (1 + 1e-12));
        },
      ),
    );
  });

  it("has a base that never falls below the delay asked for, nor twice the round, nor rises tenfold", () => {
    check(
      fc.property(positive, attempts, duration, (retryDelayMs, n, roundMs) => {
        const baseMs = backoffMs({ retryDelayMs, retryJitter: 0 }, n, roundMs, MIDDLE);
        const firstMs = Math.max(retryDelayMs, 2 * roundMs);
        expect(baseMs).toBeGreaterThanOrEqual(firstMs);
        expect(baseMs).toBeLessThanOrEqual(10 * firstMs);
      }),
    );
  });

  it("never gets shorter from attempt to attempt, and at most doubles", () => {
    check(
      fc.property(
        positive,
        part,
        attempts,
        duration,
        part,
        (retryDelayMs, retryJitter, n, roundMs, uniform) => {
          const settings = { retryDelayMs, retryJitter };
          const waitMs = backoffMs(settings, n, roundMs, uniform);
          const nextMs = backoffMs(settings, n + 1, roundMs, uniform);
          expect(nextMs).toBeGreaterThanOrEqual(waitMs);
          expect(nextMs).toBeLessThanOrEqual(2 * waitMs);
          expect(nextMs === waitMs).toBe(n >= 4);
        },
      ),
    );
  });

  it("is longer for a larger random number, unless jitter is 0", () => {
    check(
      fc.property(positive, attempts, part, part, (retryDelayMs, n, a, b) => {
        fc.pre(Math.abs(a - b) > 1e-6);
        const wait = (retryJitter: number, uniform: number) =>
          backoffMs({ retryDelayMs, retryJitter }, n, 0, uniform);
        expect(wait(0.5, Math.max(a, b))).toBeGreaterThan(wait(0.5, Math.min(a, b)));
        expect(wait(0, a)).toBe(wait(0, b));
      }),
    );
  });
});
