import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../src/clock.ts";
import { checkLike, type RedlockOptions, resolveOptions } from "../src/options.ts";
import { check, isShowable } from "./seed.ts";

const defaults = resolveOptions({});

const OF_CALLS =
  `ttlMs waitMs retryDelayMs retryJitter nodeTimeoutMs driftFactor autoExtend maxHoldMs minHoldMs
  owner onLost signal waitUntil`.split(/\s+/);
const OF_CONSTRUCTOR = [...OF_CALLS, "keyPrefix", "clock", "random"];

const anything = fc.anything({ withBigInt: true, withDate: true }).filter(isShowable);
const value = fc.oneof(
  anything,
  fc.double(),
  fc.integer(),
  fc.integer({ min: 10, max: 1e6 }),
  fc.constantFrom(
    0,
    -0,
    1,
    0.5,
    10,
    Infinity,
    -Infinity,
    Number.NaN,
    2 ** 53,
    "",
    "return",
    "throw",
    true,
  ),
  fc.func(fc.anything()),
);

/** Runs it; gives its answer, or an error that has to be one of the two and to name what is wrong. */
function answerOrRefusal<Answer>(name: string, run: () => Answer): Answer | undefined {
  try {
    return run();
  } catch (error) {
    expect([TypeError, RangeError]).toContain((error as Error).constructor);
    expect((error as Error).message).toMatch(name);
    expect((error as Error).message).toMatch(/ must be .+, got |unknown option|belongs to/);
    return undefined;
  }
}

/** What every accepted option is, said once more and in another way than the rules say it. */
const HOLDS: Record<string, (value: never) => boolean> = {
  ttlMs: (ms: number) => Number.isSafeInteger(ms) && ms >= 10,
  waitMs: (ms: number) => ms >= 0,
  retryDelayMs: (ms: number) => ms > 0 && Number.isFinite(ms),
  retryJitter: (part: number) => part >= 0 && part < 1,
  nodeTimeoutMs: (ms: number) => ms > 0 && Number.isFinite(ms),
  driftFactor: (part: number) => part >= 0 && Math.ceil(10_000 * part) + 2 < 10_000,
  maxHoldMs: (ms: number) => ms > 0,
  minHoldMs: (ms: number) => ms >= 0 && ms <= Number.MAX_SAFE_INTEGER,
  autoExtend: (on: unknown) => typeof on === "boolean",
  owner: (owner: unknown) => typeof owner === "string" && owner.length > 0,
  onLost: (on: unknown) => on === "return" || on === "throw",
  keyPrefix: (prefix: unknown) => typeof prefix === "string",
  waitUntil: (take: unknown) => typeof take === "function",
};

const NUMERIC = OF_CALLS.filter((name) => /Ms$|Factor$|Jitter$/.test(name));

describe.each([
  ["the constructor", OF_CONSTRUCTOR, undefined],
  ["a call", OF_CALLS, defaults],
] as const)("the options of %s", (_, names, over) => {
  it("are taken as they are or refused by an error that names option and value", () => {
    let [taken, refused] = [0, 0];
    check(
      fc.property(fc.constantFrom(...names), value, (name, given) => {
        const resolved = answerOrRefusal(name, () => resolveOptions({ [name]: given }, over));
        if (!resolved) refused++;
        else if (given !== undefined) {
          taken++;
          expect(resolved[name as keyof RedlockOptions]).toBe(given);
          expect(HOLDS[name]?.(given as never) ?? typeof given === "object").toBe(true);
        }
      }),
      5_000,
    );
    expect(taken).toBeGreaterThan(200);
    expect(refused).toBeGreaterThan(1_000);
  });

  it("are a number exactly where the number is in range", () => {
    check(
      fc.property(
        fc.constantFrom(...NUMERIC),
        fc.oneof(
          fc.double(),
          fc.integer(),
          fc.integer({ min: -1, max: 20 }),
          fc.double({ min: -0.5, max: 1.5 }),
        ),
        (name, given) => {
          const resolved = answerOrRefusal(name, () => resolveOptions({ [name]: given }, over));
          expect(resolved !== undefined).toBe(HOLDS[name]?.(given as never));
        },
      ),
      5_000,
    );
  });

  it("leave every other option as it was, cannot be changed, and change nothing that was given", () => {
    const options = fc.record(
      {
        ttlMs: fc.integer({ min: 10, max: 1e9 }),
        owner: fc.string({ minLength: 1 }),
        waitMs: fc.nat(),
        onLost: fc.constantFrom("return", "throw"),
      },
      { requiredKeys: [] },
    );
    check(
      fc.property(options, (given) => {
        const before = { ...given };
        const resolved = resolveOptions(given as RedlockOptions, over);
        expect(given).toEqual(before);
        expect(Object.isFrozen(resolved)).toBe(true);
        const auto = over ? { autoExtend: false } : {};
        expect(resolved).toEqual({ ...defaults, ...auto, ...given });
      }),
    );
  });

  it("are refused where their name is unknown or they are no object at all", () => {
    const unknown = fc.string({ minLength: 1 }).filter((name) => !names.includes(name));
    check(
      fc.property(unknown, anything, (name, given) => {
        const options = Object.defineProperty({}, name, { value: given, enumerable: true });
        expect(answerOrRefusal("", () => resolveOptions(options, over))).toBeUndefined();
      }),
    );
    check(
      fc.property(anything, (given) => {
        fc.pre(typeof given !== "object" || given === null);
        expect(
          answerOrRefusal("options", () => resolveOptions(given as never, over)),
        ).toBeUndefined();
      }),
    );
  });
});

describe("a time given beside options", () => {
  it("is accepted as the option of that name, or refused alike", () => {
    check(
      fc.property(value, (given) => {
        const accepts = (run: () => unknown) => answerOrRefusal("Ms", () => [run()]) !== undefined;
        fc.pre(given !== undefined);
        const ttl = accepts(() => resolveOptions({ ttlMs: given as number }));
        expect(accepts(() => checkLike("ttlMs", "ttlMs", given))).toBe(ttl);
        const wait = accepts(() => resolveOptions({ waitMs: given as number }));
        expect(accepts(() => checkLike("waitMs", "graceMs", given))).toBe(wait);
      }),
      2_000,
    );
  });
});

describe("an option whose value cannot be shown", () => {
  it("is refused by an error that names it", () => {
    const given = { ttlMs: Object.create(null) as number };
    expect(() => resolveOptions(given)).toThrow(/^ttlMs must be /);
  });

  it("is taken where it is right", () => {
    const clock = Object.assign(Object.create(null), systemClock) as typeof systemClock;
    expect(resolveOptions({ clock }).clock).toBe(clock);
  });
});
