import { describe, expect, it } from "vitest";
import { expectKept, type Part, TTL_MS, timeOf } from "../scenario.ts";

/** Takes the lock once it is free, and works under it. */
const next: Part = async (client) => {
  await client.sleep(20);
  const holding = await client.acquire("a");
  await client.sleep(TTL_MS / 2);
  expect(holding.isHeld()).toBe(true);
  await holding.release();
};

/** Holds, and asks its lease again and again. */
const asking = (answers: boolean[]): Part => {
  return async (client) => {
    const holding = await client.acquire("a");
    for (let times = 0; times < 12; times++) {
      await client.sleep(TTL_MS / 10);
      answers.push(holding.isHeld());
    }
    await holding.release();
  };
};

describe("a suspended machine", () => {
  it("wakes up without its lease, though its monotonic clock stood still", async () => {
    const answers: boolean[] = [];
    await expectKept(
      [asking(answers), next],
      [{ kind: "suspend", atMs: 30, client: 0, durationMs: TTL_MS * 1.1, repliesFirst: true }],
    );
    expect(answers.slice(0, 2)).toEqual([true, false]);
  });
});

describe("a wall clock that is set back", () => {
  it("lengthens no lease, as the monotonic clock runs on", async () => {
    const answers: boolean[] = [];
    await expectKept(
      [asking(answers), next],
      [{ kind: "client-clock-jump", atMs: 30, client: 0, byMs: -3_600_000 }],
    );
    expect(answers.filter(Boolean).length).toBe(9);
  });
});

describe("a wall clock that is set forward", () => {
  it("ends the lease within a second, and at once where somebody asks", async () => {
    const answers: boolean[] = [];
    await expectKept(
      [asking(answers), next],
      [{ kind: "client-clock-jump", atMs: 30, client: 0, byMs: 3_600_000 }],
    );
    expect(answers.slice(0, 3)).toEqual([true, false, false]);
  });
});

describe("a process that stands still beyond its deadline", () => {
  it("says so when it goes on, before its timers have run", async () => {
    const held: boolean[] = [];
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(29);
      held.push(holding.isHeld());
      // A reply comes while it stands still, and is handled before any timer.
      await client.redlock.inspect("a");
      held.push(holding.isHeld());
      await holding.release();
    };
    const result = await expectKept(
      [holder, next],
      [{ kind: "pause", atMs: 32, client: 0, durationMs: TTL_MS * 1.2, repliesFirst: true }],
    );
    expect(held).toEqual([true, false]);
    expect(timeOf(result, /c2 holds/)).toBeLessThan(timeOf(result, /c1 goes on/));
  });
});

describe("clocks at the bound of the assumed drift", () => {
  it("never let a holder believe longer than its keys live", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(holding.lease.remainingMs() - 0.5);
      holding.isHeld();
      await client.sleep(5);
      expect(holding.isHeld()).toBe(false);
    };
    await expectKept([holder, next], [], {
      options: { driftFactor: 0.1 },
      traits: { drift: "worst", driftUse: 1 },
    });
  });
});
