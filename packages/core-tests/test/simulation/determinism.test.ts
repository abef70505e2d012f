import { simulate } from "@redlatch/testing/simulator";
import { describe, expect, it } from "vitest";

/** `drain` is for these tests: the published types do not have it. */
type Options = Parameters<typeof simulate>[0];

const SEEDS = Array.from({ length: 20 }, (_, index) => 9_000 + index);

describe("a simulation", () => {
  it("has the same history for the same seed, byte for byte", async () => {
    for (const seed of SEEDS) {
      const [first, second] = [await simulate({ seed }), await simulate({ seed })];
      expect(JSON.stringify(first)).toBe(JSON.stringify(second));
    }
  });

  it("has the same history when the plan that was drawn is given", async () => {
    for (const seed of SEEDS) {
      const drawn = await simulate({ seed });
      const given = await simulate({ seed, faults: drawn.faults });
      expect(JSON.stringify(given)).toBe(JSON.stringify(drawn));
    }
  });

  it("drains microtasks as thoroughly as the event loop does", async () => {
    const drain = async (activity: { active: boolean }): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      activity.active = false;
    };
    for (const seed of SEEDS) {
      const [quick, thorough] = [
        await simulate({ seed }),
        await simulate({ seed, drain } as Options),
      ];
      expect(JSON.stringify(quick)).toBe(JSON.stringify(thorough));
    }
  });

  it("says so when microtasks are not drained", async () => {
    const drain = async (): Promise<void> => {
      await undefined;
    };
    await expect(simulate({ seed: 1, drain } as Options)).rejects.toThrow(/not drained/);
  });

  it("differs between seeds", async () => {
    const [one, other] = [await simulate({ seed: 1 }), await simulate({ seed: 2 })];
    expect(JSON.stringify(one.history)).not.toBe(JSON.stringify(other.history));
  });
});
