import { type Fault, reportOf, simulate } from "@redlatch/testing/simulator";
import { describe, expect, it } from "vitest";
import { expectKept, type Part, play, TTL_MS } from "../scenario.ts";

// What is not promised must be seen to break: else the simulator sees nothing.

const holdFor =
  (ms: number, afterMs = 0): Part =>
  async (client) => {
    await client.sleep(afterMs);
    const holding = await client.acquire("a");
    await client.sleep(ms);
    await holding.release();
  };

const brokenBy = async (...args: Parameters<typeof play>): Promise<string[]> =>
  (await play(...args)).violations.map(({ invariant }) => invariant);

describe("node clocks that run faster than the assumed drift", () => {
  const fast = [0, 1, 2].map(
    (node): Fault => ({ kind: "node-clock-rate", atMs: 0, node, rate: 1.5 }),
  );

  it("let two clients hold the lock", async () => {
    const broken = await brokenBy([holdFor(TTL_MS * 0.9), holdFor(50, 20)], fast);
    expect(broken).toContain("exclusion");
    expect(broken).toContain("backing");
  });

  it("are harmless on a minority", async () => {
    await expectKept([holdFor(TTL_MS * 0.9), holdFor(50, 20)], fast.slice(0, 2));
  });

  it("are found by chance", async () => {
    const found = await firstBroken({ faults: { weights: { "node-clock-rate": 1, pause: 1 } } });
    expect(found).toMatch(/exclusion|backing/);
  });
});

describe("a node that comes back without its keys, and without a restart guard", () => {
  const restart: Fault = {
    kind: "crash-node",
    atMs: 20,
    node: 2,
    durationMs: 5,
    survives: "none",
  };
  // The first majority is nodes 1 to 3, the second 3 to 5: they meet in the node that forgets.
  const majorities: Fault[] = [
    { kind: "partition", atMs: 0, durationMs: 30, clients: [0], nodes: [3, 4] },
    { kind: "partition", atMs: 0, durationMs: 30, clients: [1], nodes: [0, 1] },
    restart,
  ];

  it("lets two clients hold the lock", async () => {
    const broken = await brokenBy([holdFor(100), holdFor(30, 10)], majorities, {
      excusesLostData: false,
    });
    expect(broken).toContain("exclusion");
  });

  it("is excused where lost data is left aside, and only then", async () => {
    await expectKept([holdFor(100), holdFor(30, 10)], majorities);
  });

  it("is harmless where its keys survive", async () => {
    const kept = majorities.map((fault) =>
      fault === restart ? { ...restart, survives: "all" } : fault,
    );
    await expectKept([holdFor(100), holdFor(30, 10)], kept as Fault[], { excusesLostData: false });
  });

  it("is found by chance", async () => {
    const found = await firstBroken({
      excusesLostData: false,
      faults: { weights: { "crash-node": 2, flush: 1, partition: 2 } },
    });
    expect(found).toMatch(/exclusion|backing/);
  });
});

describe("a wall clock that is set back while the machine sleeps", () => {
  it("leaves a holder in its belief: both its clocks are wrong at once", async () => {
    const broken = await brokenBy(
      [holdFor(TTL_MS * 0.9), holdFor(50, 20)],
      [
        { kind: "suspend", atMs: 50, client: 0, durationMs: TTL_MS },
        { kind: "client-clock-jump", atMs: 60, client: 0, byMs: -TTL_MS },
      ],
    );
    expect(broken).toContain("exclusion");
  });
});

describe("a holder that stands still between its check and its act", () => {
  // The resource: it takes what it is given, and sees a writer who comes after a later one.
  const register = () => {
    let latest = 0;
    return (client: Parameters<Part>[0], turn: number): void => {
      if (turn < latest) client.violate("stale write", `${client.id} wrote after a later holder`);
      latest = Math.max(latest, turn);
    };
  };
  let turns = 0;

  const writer =
    (write: ReturnType<typeof register>, afterMs: number): Part =>
    async (client) => {
      await client.sleep(afterMs);
      const holding = await client.acquire("a");
      const turn = ++turns;
      holding.lease.assertHeld();
      // As if the act were a message of its own on its way to the resource.
      await client.sleep(5);
      write(client, turn);
      await holding.release();
    };

  it("acts after the next holder, which no lock can prevent", async () => {
    const write = register();
    const broken = await brokenBy(
      [writer(write, 0), writer(write, 10)],
      [{ kind: "pause", atMs: 4, client: 0, durationMs: TTL_MS * 2 }],
    );
    expect(broken).toEqual(["stale write"]);
  });
});

describe("a lock that an operator releases by force", () => {
  it("has two holders until the first one extends", async () => {
    const operator: Part = async (client) => {
      await client.sleep(20);
      await client.redlock.forceRelease("a");
    };
    const broken = await brokenBy([holdFor(100), holdFor(30, 10), operator]);
    expect(broken).toContain("exclusion");
  });
});

async function firstBroken(options: Partial<Parameters<typeof simulate>[0]>): Promise<string> {
  for (let seed = 0; seed < 300; seed++) {
    const result = await simulate({ ...options, seed });
    if (result.violations.length > 0) return reportOf(result, { before: 0, after: 0 });
  }
  return "nothing";
}
