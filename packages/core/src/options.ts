import { type Clock, systemClock } from "./clock.ts";
import type { RedisNode } from "./redis-node.ts";
import { shown } from "./shown.ts";
import { type Random, systemRandom } from "./token.ts";
import { driftMs } from "./validity.ts";

/** What a call may set for itself; the constructor sets the defaults. `undefined` means the default. */
export interface CallOptions {
  /**
   * How long a lease lives without an extension, in milliseconds: an integer of at least 10.
   *
   * @defaultValue 10_000
   */
  readonly ttlMs?: number | undefined;
  /**
   * How long to wait for a resource in all, in milliseconds: 0 (one attempt) to Infinity.
   *
   * @defaultValue 10_000
   */
  readonly waitMs?: number | undefined;
  /**
   * The base of the wait between two attempts, in milliseconds, above 0. The wait is at least twice what
   * the last round took, doubles with each attempt up to ten times the base, and ends when the holder's
   * keys expire.
   *
   * @defaultValue 100
   */
  readonly retryDelayMs?: number | undefined;
  /**
   * How far the wait is spread around its base, as a part of it: from 0 to below 1.
   *
   * @defaultValue 0.5
   */
  readonly retryJitter?: number | undefined;
  /**
   * How long one node may take to answer, in milliseconds, above 0; capped at half of `ttlMs`.
   *
   * @defaultValue the node's own advice, else ttlMs / 20, at least 50 and at most 1_000
   */
  readonly nodeTimeoutMs?: number | undefined;
  /**
   * The assumed bound on the drift between a node's expiry and this process' clock, as a part of the
   * elapsed time: from 0 to below 1 (the Redis documentation, "Distributed Locks with Redis").
   *
   * @defaultValue 0.01
   */
  readonly driftFactor?: number | undefined;
  /**
   * Whether the lease is extended automatically, at a third of its TTL.
   *
   * @defaultValue true in `using` and `tryUsing`, false elsewhere
   */
  readonly autoExtend?: boolean | undefined;
  /**
   * How long automatic extension may keep a lease, in milliseconds, above 0 or Infinity. Then
   * `lease.signal` aborts with a HoldLimitError, while the lease still lasts until its deadline.
   *
   * @defaultValue 3_600_000
   */
  readonly maxHoldMs?: number | undefined;
  /**
   * How long the resource stays locked at the least, in milliseconds, from 0: an earlier release lets the
   * keys stand for the rest instead of deleting them. Nobody is kept waiting for it.
   *
   * @defaultValue 0
   */
  readonly minHoldMs?: number | undefined;
  /** A label stored with the token, shown to those who wait and to `inspect`. Not a secret. */
  readonly owner?: string | undefined;
  /** Ends the wait; in `using` and `tryUsing` also aborts `lease.signal`. Rejects with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Gets every promise of work that goes on after an answer, e.g. `(promise) => ctx.waitUntil(promise)`
   * in a serverless function. (Never `ctx.waitUntil` itself: it must be called as a method.)
   */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
}

/** What `using` takes beside {@link CallOptions}. */
export interface UsingOptions extends CallOptions {
  /**
   * What happens to the result of work whose lease was lost meanwhile: `"return"` it, or `"throw"` the loss.
   *
   * @defaultValue "return"
   */
  readonly onLost?: "return" | "throw" | undefined;
}

/** What the constructor takes: the defaults of all calls, and what holds for all of them. */
export interface RedlockOptions extends UsingOptions {
  /**
   * Put before each resource to make its Redis key. With "" other languages' Redlock clients on the same
   * key exclude us and we them.
   *
   * @defaultValue "lock:"
   */
  readonly keyPrefix?: string | undefined;
  /** @defaultValue the system's clocks and timers */
  readonly clock?: Clock | undefined;
  /** @defaultValue Math.random for jitter, Web Crypto for tokens */
  readonly random?: Random | undefined;
}

type Optional = "onLost" | "nodeTimeoutMs" | "owner" | "signal" | "waitUntil";

/** Options, resolved once and passed whole: nothing below looks for a default. */
export type Settings = {
  readonly [Name in Exclude<keyof RedlockOptions, Optional>]-?: NonNullable<RedlockOptions[Name]>;
} & { readonly [Name in Optional]: RedlockOptions[Name] | undefined };

/** For numbers the bounds are part of the range; for the rest `holds` says more than the type does. */
type Rule =
  | readonly [type: "number", rule: string, min: number, max: number, whole?: boolean]
  | readonly [type: string, rule: string, holds?: (value: never) => unknown];

const duration = (range: string, min: number, max: number): Rule => [
  "number",
  `${range} milliseconds`,
  min,
  max,
];
const { MIN_VALUE, MAX_VALUE } = Number;
const above0 = duration("a positive number of", MIN_VALUE, MAX_VALUE);
const fraction: Rule = ["number", "at least 0 and below 1", 0, 1 - Number.EPSILON];

const CALL_RULES: Record<keyof UsingOptions, Rule> = {
  ttlMs: ["number", "a positive integer of milliseconds, 10 to 2^53 - 1", 10, MAX_VALUE, true],
  waitMs: duration("0 to Infinity", 0, Infinity),
  retryDelayMs: above0,
  retryJitter: fraction,
  nodeTimeoutMs: above0,
  driftFactor: fraction,
  autoExtend: ["boolean", "true or false"],
  maxHoldMs: duration("above 0 to Infinity", MIN_VALUE, Infinity),
  minHoldMs: duration("0 to 2^53 - 1", 0, Number.MAX_SAFE_INTEGER),
  owner: ["string", "a non-empty string", (owner: string) => owner],
  onLost: ["string", '"return" or "throw"', (on: string) => on === "return" || on === "throw"],
  signal: ["object", "an AbortSignal", (signal: AbortSignal) => signal?.addEventListener],
  waitUntil: ["function", "a function that takes a promise"],
};

const RULES: Record<keyof RedlockOptions, Rule> = {
  ...CALL_RULES,
  keyPrefix: ["string", "a string"],
  clock: ["object", "a Clock", (clock: Clock) => clock?.after],
  random: ["object", "a Random", (random: Random) => random?.token],
};

const DEFAULTS: Omit<Settings, Optional> = {
  ttlMs: 10_000,
  waitMs: 10_000,
  autoExtend: false,
  retryDelayMs: 100,
  retryJitter: 0.5,
  driftFactor: 0.01,
  maxHoldMs: 3_600_000,
  minHoldMs: 0,
  keyPrefix: "lock:",
  clock: systemClock,
  random: systemRandom,
};

/**
 * Checks options and lays them over settings (a call's over the constructor's).
 *
 * @throws TypeError for an unknown option (with a suggestion) or a value of the wrong type.
 * @throws RangeError for a value out of its range.
 */
export function resolveOptions(options: RedlockOptions, over?: Settings): Settings {
  const rules: Record<string, Rule> = over ? CALL_RULES : RULES;
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const hint = typeof options === "number" ? `: use { ttlMs: ${String(options)} }` : "";
    throw new TypeError(`options must be an object, got ${shown(options)}${hint}`);
  }
  const settings: Record<string, unknown> = { ...(over ?? DEFAULTS) };
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) throw new TypeError(unknownOption(name));
    if (value === undefined) continue;
    checkOption(name, value, rule);
    settings[name] = value;
  }
  return Object.freeze(usable(settings as Settings));
}

/** Refuses what could never give a lease. */
function usable(settings: Settings): Settings {
  const { ttlMs, driftFactor } = settings;
  if (driftMs(ttlMs, driftFactor) < ttlMs) return settings;
  throw new RangeError(
    `driftFactor must be low enough to leave some of a ttlMs of ${ttlMs}, got ${driftFactor}`,
  );
}

/** Checks a value given outside of options by the rule of an option. */
export function checkLike(option: keyof UsingOptions, name: string, value: unknown): void {
  checkOption(name, value, CALL_RULES[option]);
}

/** Checks what is to be added to a TTL. */
export function checkAddition(addMs: number): void {
  checkOption("addMs", addMs, ["number", "a positive integer of milliseconds", 1, MAX_VALUE, true]);
}

function checkOption(name: string, value: unknown, rule: Rule): void {
  if (fits(value, rule)) return;
  const [type, allowed] = rule;
  const Refusal = type === "number" && typeof value === type ? RangeError : TypeError;
  throw new Refusal(`${name} must be ${allowed}, got ${shown(value)}`);
}

function fits(value: unknown, [type, , min, max, whole]: Rule): unknown {
  if (typeof value !== type) return false;
  if (typeof min === "function") return min(value as never);
  if (typeof min !== "number") return true;
  const inRange = (value as number) >= min && (value as number) <= (max as number);
  return inRange && (!whole || Number.isSafeInteger(value));
}

function unknownOption(name: string): string {
  if (Object.hasOwn(RULES, name)) return `${name} belongs to the constructor, not to a call`;
  const pairs = (word: string): Set<string> =>
    new Set(Array.from(word.toLowerCase(), (_, at) => word.toLowerCase().slice(at, at + 2)));
  const mine = pairs(name);
  const alike = (known: string) => [...pairs(known)].filter((pair) => mine.has(pair)).length;
  const [best] = Object.keys(RULES).sort((a, b) => alike(b) - alike(a)) as [string];
  return `unknown option ${name}${alike(best) > 1 ? `: did you mean ${best}?` : ""}`;
}

/**
 * How long `node` may take: what was asked for, else the driver's advice, else a twentieth of the TTL;
 * never more than half of the TTL, or no time would be left to use the lease.
 */
export const nodeTimeoutOf = (node: RedisNode, settings: Settings): number =>
  Math.min(
    settings.nodeTimeoutMs ?? node.timeoutMs ?? Math.min(Math.max(settings.ttlMs / 20, 50), 1_000),
    settings.ttlMs / 2,
  );
