import { describe, expect, it } from "vitest";
import { systemClock } from "../src/clock.ts";
import { nodeTimeoutOf, type RedlockOptions, resolveOptions } from "../src/options.ts";
import { systemRandom } from "../src/token.ts";

const defaults = resolveOptions({});
const made = (options: unknown) => () => resolveOptions(options as RedlockOptions);
const call = (options: unknown) => () => resolveOptions(options as RedlockOptions, defaults);

/** What no option of milliseconds or of a part takes, whatever its range; the shape in which it is shown. */
const NO_NUMBERS = [
  ["10s", '"10s"'],
  ["1000", '"1000"'],
  ["", '""'],
  [null, "null"],
  [true, "true"],
  [{}, "[object Object]"],
  [10n, "10"],
] as const;

interface Numeric {
  readonly name: keyof RedlockOptions;
  readonly good: readonly number[];
  readonly bad: readonly number[];
  readonly initial: number | undefined;
}

const NUMERIC: readonly Numeric[] = [
  {
    name: "ttlMs",
    good: [10, 11, 10_000, 2 ** 31, 2 ** 40],
    bad: [Number.NaN, -1, 0, 9, 0.5, 10.5, 10_000.1, Infinity, -Infinity, 2 ** 53],
    initial: 10_000,
  },
  {
    name: "waitMs",
    good: [0, 0.5, 1, 2 ** 31, Infinity],
    bad: [Number.NaN, -1, -0.5, -Infinity],
    initial: 10_000,
  },
  {
    name: "retryDelayMs",
    good: [0.5, 1, 100, 2 ** 31],
    bad: [Number.NaN, -1, 0, -0.5, Infinity, -Infinity],
    initial: 100,
  },
  {
    name: "retryJitter",
    good: [0, 0.5, 0.99],
    bad: [Number.NaN, -0.1, 1, 1.5, Infinity, -Infinity],
    initial: 0.5,
  },
  {
    name: "nodeTimeoutMs",
    good: [0.5, 1, 100, 2 ** 31],
    bad: [Number.NaN, -1, 0, -0.5, Infinity, -Infinity],
    initial: undefined,
  },
  {
    name: "driftFactor",
    good: [0, 0.01, 0.99],
    bad: [Number.NaN, -0.1, 1, 1.5, Infinity, -Infinity],
    initial: 0.01,
  },
  {
    name: "maxHoldMs",
    good: [0.5, 1, 3_600_000, Infinity],
    bad: [Number.NaN, -1, 0, -0.5, -Infinity],
    initial: 3_600_000,
  },
  {
    name: "minHoldMs",
    good: [0, 0.5, 30_000, 2 ** 31],
    bad: [Number.NaN, -1, -0.5, Infinity, -Infinity],
    initial: 0,
  },
];

describe.each(NUMERIC)("$name", ({ name, good, bad, initial }) => {
  it.each(good)("may be %d", (value) => {
    expect(made({ [name]: value })()[name]).toBe(value);
    expect(call({ [name]: value })()[name]).toBe(value);
  });

  it.each(bad)("may not be %d: a RangeError names option, rule and value", (value) => {
    for (const check of [made({ [name]: value }), call({ [name]: value })]) {
      expect(check).toThrow(RangeError);
      expect(check).toThrow(new RegExp(`^${name} must be .{8,}, got ${value}$`));
    }
  });

  it.each(NO_NUMBERS)("may not be %s: a TypeError names option, rule and value", (value, shown) => {
    for (const check of [made({ [name]: value }), call({ [name]: value })]) {
      expect(check).toThrow(TypeError);
      expect(check).toThrow(new RegExp(`^${name} must be .{8,}, got `));
      expect(check).toThrow(shown);
    }
  });

  it("is its default where it is undefined or left out", () => {
    expect(defaults[name]).toBe(initial);
    expect(made({ [name]: undefined })()[name]).toBe(initial);
  });

  it("is the constructor's where a call says undefined, the call's where it says more", () => {
    const [first, second] = good as [number, number];
    const settings = resolveOptions({ [name]: first });
    expect(resolveOptions({ [name]: undefined }, settings)[name]).toBe(first);
    expect(resolveOptions({}, settings)[name]).toBe(first);
    expect(resolveOptions({ [name]: second }, settings)[name]).toBe(second);
  });
});

const ELSE = [
  { name: "autoExtend", good: [true, false], bad: [0, 1, "true", null, {}] },
  { name: "wakeUp", good: [true, false], bad: [0, 1, "true", null, {}] },
  { name: "owner", good: ["worker-1", "a:b\nc"], bad: ["", 42, null, {}, true] },
  { name: "onLost", good: ["return", "throw"], bad: ["ignore", "", 1, null, true] },
  { name: "signal", good: [AbortSignal.abort()], bad: [{}, null, "abort", 1, true, () => {}] },
  { name: "waitUntil", good: [() => {}], bad: [{}, null, "f", 1, true] },
] as const;

describe.each(ELSE)("$name", ({ name, good, bad }) => {
  it("takes what it should", () => {
    for (const value of good) {
      expect(made({ [name]: value })()[name]).toBe(value);
      expect(call({ [name]: value })()[name]).toBe(value);
    }
  });

  it.each(bad)("may not be %j: a TypeError names option, rule and value", (value) => {
    for (const check of [made({ [name]: value }), call({ [name]: value })]) {
      expect(check).toThrow(TypeError);
      expect(check).toThrow(new RegExp(`^${name} must be .{8,}, got `));
    }
  });

  it("may be undefined", () => {
    expect(made({ [name]: undefined })).not.toThrow();
    expect(call({ [name]: undefined })).not.toThrow();
  });
});

const OF_THE_CONSTRUCTOR = [
  { name: "keyPrefix", good: ["", "lock:", "{app}:"], bad: [null, 1, {}, true] },
  { name: "clock", good: [systemClock], bad: [null, 1, {}, "clock", true] },
  { name: "random", good: [systemRandom], bad: [null, 1, {}, "random", true] },
] as const;

describe.each(OF_THE_CONSTRUCTOR)("$name", ({ name, good, bad }) => {
  it("takes what it should", () => {
    for (const value of good) expect(made({ [name]: value })()[name]).toBe(value);
  });

  it.each(bad)("may not be %j: a TypeError names option, rule and value", (value) => {
    expect(made({ [name]: value })).toThrow(TypeError);
    expect(made({ [name]: value })).toThrow(new RegExp(`^${name} must be .{5,}, got `));
  });

  it("is refused on a call, which is told where it belongs", () => {
    expect(call({ [name]: good[0] })).toThrow(TypeError);
    expect(call({ [name]: good[0] })).toThrow(new RegExp(`${name}.*constructor`));
  });
});

describe("an unknown option", () => {
  it.each([
    ["ttl", "ttlMs"],
    ["TTL", "ttlMs"],
    ["ttlMS", "ttlMs"],
    ["timeoutMs", "nodeTimeoutMs"],
    ["wait", "waitMs"],
    ["retryDelay", "retryDelayMs"],
    ["drift", "driftFactor"],
    ["jitter", "retryJitter"],
    ["autoextend", "autoExtend"],
    ["maxHold", "maxHoldMs"],
  ])("%s is refused with the suggestion %s", (name, suggestion) => {
    for (const check of [made({ [name]: 1 }), call({ [name]: 1 })]) {
      expect(check).toThrow(TypeError);
      expect(check).toThrow(new RegExp(`\\b${name}\\b.*did you mean ${suggestion}\\?`));
    }
  });

  it("is refused without a suggestion where it is like none", () => {
    expect(call({ zzz: 1 })).toThrow(/^unknown option zzz$/);
  });

  it("is refused even when its value is undefined", () => {
    expect(call({ ttl: undefined })).toThrow(/ttlMs/);
  });

  it.each(["toString", "constructor", "__proto__", "hasOwnProperty"])(
    "%s is not found on a prototype",
    (name) => {
      const options = JSON.parse(`{ ${JSON.stringify(name)}: 1 }`) as unknown;
      expect(call(options)).toThrow(TypeError);
      expect(made(options)).toThrow(TypeError);
    },
  );
});

describe("options", () => {
  it("as a bare number are refused with what to write instead", () => {
    expect(call(5000)).toThrow(TypeError);
    expect(call(5000)).toThrow("use { ttlMs: 5000 }");
  });

  it.each([null, "10s", true, 1n, () => {}])("may not be %s", (options) => {
    expect(call(options)).toThrow(TypeError);
    expect(call(options)).toThrow(/options/);
  });

  it("are copied and frozen", () => {
    const mine = { ttlMs: 500 };
    const settings = resolveOptions(mine);
    mine.ttlMs = 1;
    expect(settings.ttlMs).toBe(500);
    expect(Object.isFrozen(settings)).toBe(true);
  });
});

describe("a node's time limit", () => {
  const node = (timeoutMs?: number) => ({ name: "a", timeoutMs, send: async () => 1 });
  const limit = (options: RedlockOptions, timeoutMs?: number) =>
    nodeTimeoutOf(node(timeoutMs), resolveOptions(options));

  it.each([
    [10, 5],
    [20, 10],
    [99, 49.5],
    [100, 50],
    [1_000, 50],
    [1_001, 50.05],
    [10_000, 500],
    [20_000, 1_000],
    [60_000, 1_000],
  ])("at a ttl of %i ms is %d ms by default", (ttlMs, expected) => {
    expect(limit({ ttlMs })).toBeCloseTo(expected, 9);
  });

  it("is the driver's advice where there is one, an explicit option before that", () => {
    expect(limit({}, 2_000)).toBe(2_000);
    expect(limit({ nodeTimeoutMs: 300 }, 2_000)).toBe(300);
  });

  it("is never above half of the ttl", () => {
    expect(limit({ ttlMs: 100, nodeTimeoutMs: 5_000 })).toBe(50);
    expect(limit({ ttlMs: 100 }, 5_000)).toBe(50);
  });
});
