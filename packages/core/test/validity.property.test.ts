import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deadlineOf, driftMs, elapsedMs, laterOf, remainingMs } from "../src/validity.ts";
import { check } from "./seed.ts";

/** Clocks count in fractions; these are exact in binary, so that no sum is rounded. */
const ms = (min: number, max: number) =>
  fc.integer({ min: min * 8, max: max * 8 }).map((eighths) => eighths / 8);
const instant = fc.record({ monotonicMs: ms(0, 1e9), wallMs: ms(1e12, 4e12) });
const ttlMs = fc.oneof(fc.integer({ min: 10, max: 100 }), fc.integer({ min: 10, max: 1e9 }));
const driftFactor = fc.oneof(
  fc.constantFrom(0, 0.01, 0.1),
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
);
/** How far each clock went: time, or a step of it. */
const passed = fc.record({ monotonicMs: ms(0, 2e9), wallMs: ms(-2e9, 2e9) });

type Instant = Readonly<Record<"monotonicMs" | "wallMs", number>>;
const after = (from: Instant, by: Instant): Instant => ({
  monotonicMs: from.monotonicMs + by.monotonicMs,
  wallMs: from.wallMs + by.wallMs,
});

describe("the validity of a lease", () => {
  it("is never positive once the ttl has passed by either clock", () => {
    check(
      fc.property(instant, ttlMs, driftFactor, passed, (from, ttl, factor, by) => {
        const now = after(from, by);
        const isOver = by.monotonicMs >= ttl || by.wallMs >= ttl;
        fc.pre(isOver);
        expect(remainingMs(deadlineOf(from, ttl, factor), now)).toBeLessThan(0);
      }),
    );
  });

  it("is ttl - elapsed - drift, where elapsed is what the faster clock says", () => {
    check(
      fc.property(instant, ttlMs, driftFactor, passed, (from, ttl, factor, by) => {
        const now = after(from, by);
        const leftMs = remainingMs(deadlineOf(from, ttl, factor), now);
        expect(leftMs).toBe(ttl - elapsedMs(from, now) - driftMs(ttl, factor));
        expect(elapsedMs(from, now)).toBe(Math.max(by.monotonicMs, by.wallMs));
      }),
    );
  });

  it("holds on a node whose clock is fast and a client whose clock is slow by the factor together", () => {
    check(
      fc.property(
        instant,
        ttlMs,
        driftFactor,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (from, ttl, factor, part) => {
          const deadline = deadlineOf(from, ttl, factor);
          const validMs = remainingMs(deadline, from);
          fc.pre(validMs > 0);
          // The client counts `part` of its validity; by the node's clock up to 1 / (1 - factor) as much went by.
          const clientMs = validMs * part;
          expect(clientMs + ttl * factor).toBeLessThan(ttl);
        },
      ),
    );
  });

  it("grows with the ttl and shrinks with the drift", () => {
    check(
      fc.property(
        instant,
        ttlMs,
        fc.nat(1_000),
        driftFactor,
        driftFactor,
        (from, ttl, more, a, b) => {
          const valid = (forMs: number, factor: number) =>
            remainingMs(deadlineOf(from, forMs, factor), from);
          expect(valid(ttl + more, a)).toBeGreaterThanOrEqual(valid(ttl, a));
          expect(valid(ttl, Math.max(a, b))).toBeLessThanOrEqual(valid(ttl, Math.min(a, b)));
        },
      ),
    );
  });
});

describe("the drift", () => {
  it("is the next whole millisecond of the factor's part, and 2 ms", () => {
    check(
      fc.property(ttlMs, driftFactor, (ttl, factor) => {
        const drift = driftMs(ttl, factor);
        expect(Number.isInteger(drift)).toBe(true);
        expect(drift - 2).toBeGreaterThanOrEqual(ttl * factor);
        expect(drift - 3).toBeLessThan(ttl * factor);
      }),
    );
  });
});

describe("the later of two deadlines", () => {
  it("is one of the two as it was, and leaves no less than the other", () => {
    check(
      fc.property(instant, instant, instant, (a, b, now) => {
        const later = laterOf(a, b, now);
        const leftMs = remainingMs(later, now);
        expect(leftMs).toBeGreaterThanOrEqual(Math.max(remainingMs(a, now), remainingMs(b, now)));
        expect([a, b]).toContain(later);
        expect(laterOf(later, a, now)).toBe(later);
      }),
    );
  });
});
