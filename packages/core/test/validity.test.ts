import { describe, expect, it } from "vitest";
import { deadlineOf, driftMs, elapsedMs, laterOf, remainingMs } from "../src/validity.ts";

const at = (monotonicMs: number, wallMs: number) => ({ monotonicMs, wallMs });

describe("the drift", () => {
  it.each([
    [10_000, 0.01, 102],
    [10_000, 0, 2],
    [10, 0.01, 3],
    [20, 0.01, 3],
    [1_050, 0.01, 13],
    [2 ** 40, 0.01, Math.ceil(2 ** 40 * 0.01) + 2],
  ])("over %i ms at factor %f is %i ms", (ttlMs, driftFactor, expected) => {
    expect(driftMs(ttlMs, driftFactor)).toBe(expected);
  });

  it("is a whole number and never less than the factor's part plus 2 ms", () => {
    for (let ttlMs = 10; ttlMs < 3_000; ttlMs += 7) {
      for (const driftFactor of [0, 0.001, 0.01, 0.1, 0.99]) {
        const drift = driftMs(ttlMs, driftFactor);
        expect(drift).toBeGreaterThanOrEqual(ttlMs * driftFactor + 2);
        expect(Number.isInteger(drift)).toBe(true);
      }
    }
  });
});

describe("the deadline", () => {
  it("is ttl - drift after the start, on both clocks", () => {
    expect(deadlineOf(at(500, 1_700_000_000_000), 10_000, 0.01)).toEqual(
      at(500 + 9_898, 1_700_000_000_000 + 9_898),
    );
  });

  it("lies before the start when drift takes the whole ttl", () => {
    const from = at(0, 0);
    expect(remainingMs(deadlineOf(from, 10, 0.99), from)).toBeLessThanOrEqual(0);
  });
});

describe("what remains", () => {
  const deadline = at(1_000, 51_000);

  it("is what the stricter clock says", () => {
    expect(remainingMs(deadline, at(400, 50_400))).toBe(600);
    // Asleep: the monotonic clock stood still.
    expect(remainingMs(deadline, at(400, 60_000))).toBe(-9_000);
    // The wall clock was set back.
    expect(remainingMs(deadline, at(1_200, 10_000))).toBe(-200);
  });

  it("is 0, not more, at the deadline itself", () => {
    expect(remainingMs(deadline, at(1_000, 51_000))).toBe(0);
    expect(remainingMs(deadline, at(1_000, 50_000))).toBe(0);
    expect(remainingMs(deadline, at(0, 51_000))).toBe(0);
  });
});

describe("what elapsed", () => {
  it("is the longer of what both clocks say", () => {
    expect(elapsedMs(at(0, 0), at(30, 30))).toBe(30);
    expect(elapsedMs(at(0, 0), at(30, 9_000))).toBe(9_000);
    expect(elapsedMs(at(0, 0), at(30, -9_000))).toBe(30);
  });
});

describe("the later of two deadlines", () => {
  it("is the one that leaves more time", () => {
    expect(laterOf(at(20, 90), at(30, 100), at(0, 70))).toEqual(at(30, 100));
    expect(laterOf(at(30, 100), at(20, 90), at(0, 70))).toEqual(at(30, 100));
  });

  it("is one of the two as it was, never a mixture that a backward step makes blind", () => {
    // The wall clock stepped back by 60: the new pair is later, though its wall time is not.
    expect(laterOf(at(20, 90), at(30, 40), at(10, 20))).toEqual(at(30, 40));
    expect(laterOf(at(20, 90), at(40, 50), at(15, 20))).toEqual(at(40, 50));
  });
});
