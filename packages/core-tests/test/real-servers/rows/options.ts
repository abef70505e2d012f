import { type CallOptions, type RedisNode, Redlock, type RedlockOptions } from "@redlatch/core";
import { beforeEach, describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";
import { type CountingNode, countingNode } from "../harness/wrapped-node.ts";

const { NaN: NOT_A_NUMBER, POSITIVE_INFINITY: INFINITE } = Number;

/** Values that each duration has to refuse; all of them refuse these. */
const NO_DURATIONS = [NOT_A_NUMBER, -1, "10s", "10", null, true, {}, [], 10n];

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  ttlMs: [...NO_DURATIONS, 0, 9, 9.9, 10.5, 2 ** 53, INFINITE, -INFINITE],
  waitMs: [...NO_DURATIONS, -0.5, -INFINITE],
  retryDelayMs: [...NO_DURATIONS, 0, INFINITE],
  retryJitter: [...NO_DURATIONS, 1, 1.5, INFINITE],
  nodeTimeoutMs: [...NO_DURATIONS, 0, INFINITE],
  driftFactor: [...NO_DURATIONS, 1, 2, INFINITE],
  maxHoldMs: [...NO_DURATIONS, 0, -INFINITE],
  minHoldMs: [...NO_DURATIONS, -0.5, INFINITE],
  autoExtend: ["true", 1, 0, null],
  owner: ["", 7, null, {}],
  signal: [true, "abort", null, {}, new AbortController()],
  waitUntil: [true, null, {}, "later"],
};

const CONSTRUCTOR_ONLY: Readonly<Record<string, readonly unknown[]>> = {
  keyPrefix: [7, null, {}],
  onLost: ["ignore", "", true, null],
};

const cases = (wrong: typeof WRONG) =>
  Object.entries(wrong).flatMap(([name, values]) => values.map((value) => ({ name, value })));

/** The error has to name the option, the rule and the value. */
function expectRefusal(error: unknown, name: string, value: unknown): void {
  expect(error).toSatisfy((thrown) => thrown instanceof TypeError || thrown instanceof RangeError);
  const isObject = Object(value) === value;
  const shown = isObject ? Object.prototype.toString.call(value) : String(value);
  const { message } = error as Error;
  expect(message).toMatch(new RegExp(`^${name} must be .+, got `));
  expect(message.endsWith(typeof value === "string" ? `got "${value}"` : `got ${shown}`)).toBe(
    true,
  );
}

export function options(harness: Harness): void {
  describe(`arguments (${harness.title})`, () => {
    const bed = new Testbed(harness);
    let nodes: RedisNode[];
    let counts: CountingNode[];
    let redlock: Redlock;
    beforeEach(async () => {
      counts = (await bed.connectedNodes()).map(countingNode);
      nodes = counts.map(({ node }) => node);
      redlock = bed.redlock(nodes);
    });
    const commands = () => counts.reduce((sum, count) => sum + count.commands, 0);

    /** What a call with these arguments is refused with, before any I/O. */
    async function refusalsOf(...[resource, given]: Parameters<Redlock["acquire"]>) {
      const refusals = [
        await redlock.acquire(resource, given).catch((reason) => reason),
        await redlock.tryAcquire(resource, given).catch((reason) => reason),
        await redlock.using(resource, given as object, () => {}).catch((reason) => reason),
        await redlock.tryUsing(resource, () => {}, given).catch((reason) => reason),
      ];
      expect(commands()).toBe(0);
      return refusals;
    }

    it.each(cases(WRONG))("refuses a call with $name: $value", async ({ name, value }) => {
      for (const error of await refusalsOf("a", { [name]: value } as CallOptions)) {
        expectRefusal(error, name, value);
      }
    });

    it.each(cases({ ...WRONG, ...CONSTRUCTOR_ONLY }))(
      "refuses a constructor with $name: $value",
      ({ name, value }) => {
        let error: unknown;
        try {
          new Redlock(nodes, { [name]: value } as RedlockOptions);
        } catch (thrown) {
          error = thrown;
        }
        expectRefusal(error, name, value);
        expect(commands()).toBe(0);
      },
    );

    it.each([{ ttl: 5_000 }, { TTLMs: 5_000 }, { ttlMS: 5_000 }])(
      "suggests ttlMs for an unknown option: %o",
      async (given) => {
        const [name] = Object.keys(given);
        const expected = new RegExp(`${name}.*did you mean ttlMs\\?`);
        for (const error of await refusalsOf("a", given as CallOptions)) {
          expect(error).toBeInstanceOf(TypeError);
          expect(error.message).toMatch(expected);
        }
        expect(() => new Redlock(nodes, given as RedlockOptions)).toThrow(expected);
      },
    );

    it("explains acquire(resource, 5000)", async () => {
      const error = await redlock.acquire("a", 5_000 as CallOptions).catch((reason) => reason);
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toContain("use { ttlMs: 5000 }");
      expect(commands()).toBe(0);
    });

    it("takes undefined as the default of each option", async () => {
      const names = [...Object.keys(WRONG), ...Object.keys(CONSTRUCTOR_ONLY)];
      const undefinedOptions = (of: string[]) =>
        Object.fromEntries(of.map((name) => [name, undefined]));
      const relaxed = bed.redlock(nodes, { ...undefinedOptions(names), ttlMs: bed.ttlMs });
      const lease = await relaxed.acquire("a", undefinedOptions(Object.keys(WRONG)));
      expect(lease.remainingMs()).toBeGreaterThan(bed.ttlMs / 2);
      await lease.release();
      const plain = await new Redlock(nodes, { ttlMs: undefined }).acquire("a");
      expect(plain.remainingMs()).toBeGreaterThan(9_000);
      await plain.release();
      await bed.expectNothingLeft();
    });

    it.each([
      { resources: [] },
      { resources: "" },
      { resources: ["a", ""] },
      { resources: [7] },
      { resources: null },
      { resources: undefined },
    ])("refuses $resources as resources", async ({ resources }) => {
      for (const error of await refusalsOf(resources as string)) {
        expect(error).toBeInstanceOf(TypeError);
        expect(error.message).toMatch(/resource/);
      }
    });

    it("refuses 1,001 resources and takes 1,000", async () => {
      const many = Array.from({ length: 1_001 }, (_, index) => `resource-${index}`);
      for (const error of await refusalsOf(many)) {
        expect(error).toBeInstanceOf(RangeError);
        expect(error.message).toMatch(/resources must be at most 1000, got 1001/);
      }
      const lease = await redlock.acquire(many.slice(1));
      expect((await bed.keys()).filter((keys) => keys.length === 1_000).length).toBeGreaterThan(2);
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });

    it("counts duplicates once, in whatever order", async () => {
      const lease = await redlock.acquire(["b", "a", "b", "a"]);
      expect(lease.resources).toEqual(["a", "b"]);
      const sorted = await bed.keys();
      expect(sorted.filter((keys) => keys.length > 0).length).toBeGreaterThan(2);
      for (const keys of sorted) expect([[], ["lock:a", "lock:b"]]).toContainEqual(keys);
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });
  });
}
