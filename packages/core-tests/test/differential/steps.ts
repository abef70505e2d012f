import fc from "fast-check";
import { ACQUIRE, EXTEND, LOOK, RELEASE, type Script } from "../../../core/src/scripts.ts";

/*
 * What a sequence is made of. A step is plain data, so that fast-check can print and shrink it; the times in
 * it are names (see `Times`), since what they stand for depends on when and how fast the sequence runs.
 */

/** A word of a command: text, or a time by its name. */
export type Word = string | { readonly time: TimeName; readonly absolute?: true };

/**
 * `short` expires with the next wait, for certain, and not before; the long ones outlive the sequence. Every
 * use has a length of its own, so that no comparison of two TTLs depends on how fast a command came.
 */
export type TimeName = "short" | "long" | "longer" | "longest";

/** A command, or a wait until everything short has expired. */
export type Step = readonly Word[] | "wait";

export const KEYS = ["lock:a", "lock:b", "lock:größe", "k"] as const;

/** One of them is met again and again. */
const key = fc.oneof(
  { weight: 3, arbitrary: fc.constant(KEYS[0]) },
  { weight: 2, arbitrary: fc.constantFrom(...KEYS) },
);
const token = fc.constantFrom("t1", "t2", "t1:an owner", "t2:ü:\n;");
const value = fc.oneof(
  { weight: 3, arbitrary: token },
  fc.constantFrom("", "0", "7", "-3", "007", "1e3", "x y", "😀", "9223372036854775807"),
);
const number = fc.constantFrom("0", "1", "-1", "2", "10", "abc", "", "1.5", "9223372036854775807");
const field = fc.constantFrom("f", "g", "größe");
const score = fc.constantFrom("0", "1", "-1", "2.5", "0.1", "1e20", "inf", "-inf", "nan", "x");
const rank = fc.constantFrom("0", "1", "-1", "-2", "5", "-9", "x");
const bound = fc.constantFrom("-inf", "+inf", "0", "1", "(1", "2.5", "(0.1", "x");
const oneTime = fc.constantFrom<TimeName>("short", "long", "longer", "longest");
const time: fc.Arbitrary<Word> = oneTime.map((name) => ({ time: name }));
const absoluteTime: fc.Arbitrary<Word> = oneTime.map((name) => ({ time: name, absolute: true }));
const longTime: fc.Arbitrary<Word> = fc
  .constantFrom<TimeName>("long", "longer", "longest")
  .map((name) => ({ time: name }));
const badTime = fc.constantFrom("0", "-1", "-5", "abc", "1.5", "010");
/** Redis 6.0 lets it overflow. */
const endOfTime = "9223372036854775807";

type Part = string | fc.Arbitrary<Word | readonly Word[]>;

/** A command of fixed and random parts; a part may be several words, or none. */
const command = (...parts: Part[]): fc.Arbitrary<readonly Word[]> =>
  fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((words) => (words as (Word | readonly Word[])[]).flat());

const some = (word: fc.Arbitrary<string>, most = 3) =>
  fc.array(word, { minLength: 1, maxLength: most });
const pairs = (name: fc.Arbitrary<string>, content: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(name, content), { minLength: 1, maxLength: 3 }).map((all) => all.flat());
const maybe = (...words: string[]) => fc.subarray(words, { maxLength: Math.min(2, words.length) });

const expiry: fc.Arbitrary<readonly Word[]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant("PX"), time) },
  fc.tuple(fc.constant("EX"), longTime),
  fc.tuple(fc.constantFrom("PX", "EX", "px"), badTime),
  fc.constant(["KEEPTTL"]),
  fc.constant([]),
);
/** Not known to Redis 6.0. */
const newExpiry: fc.Arbitrary<readonly Word[]> = fc.oneof(
  fc.tuple(fc.constant("PXAT"), absoluteTime),
  fc.tuple(fc.constantFrom("PX", "EX", "PXAT", "EXAT"), fc.constantFrom("1000", endOfTime)),
);

const COMMANDS = {
  strings: [
    command("SET", key, value),
    command("SET", key, fc.oneof(value, number), "PX", time),
    command("SET", key, value, "KEEPTTL"),
    command("SET", key, value, expiry, maybe("NX", "XX")),
    command("SET", key, value, fc.constantFrom("NX", "XX", "foo"), expiry),
    command("GET", key),
    command("MGET", some(key)),
    command(fc.constantFrom("INCR", "DECR"), key),
    command("INCR", fc.constant(KEYS[0])),
    command("INCRBY", key, number),
  ],
  newStrings: [
    command("GETDEL", key),
    command("SET", key, value, maybe("NX", "XX", "GET"), expiry),
    command("SET", key, value, newExpiry),
  ],
  keys: [
    command(fc.constantFrom("DEL", "UNLINK", "EXISTS"), some(key)),
    command(fc.constantFrom("TYPE", "PTTL", "TTL", "PERSIST"), key),
    command("KEYS", fc.constantFrom("*", "lock:?", "l*[ab]", "[^l]", "k\\", "größe")),
    command("DBSIZE"),
    command("PEXPIRE", key, fc.oneof(time, badTime)),
    command("EXPIRE", key, fc.oneof(longTime, badTime)),
    command("PEXPIREAT", key, fc.oneof(absoluteTime, badTime)),
    command("EXPIREAT", key, badTime),
    command("FLUSHALL", maybe("ASYNC", "foo")),
  ],
  newKeys: [
    command("PEXPIRE", key, longTime, maybe("NX", "XX", "GT", "LT", "foo")),
    command(fc.constantFrom("PEXPIRE", "EXPIRE", "PEXPIREAT", "EXPIREAT"), key, endOfTime),
  ],
  hashes: [
    command("HSET", key, pairs(field, value)),
    command("HSET", key, field, value, field),
    command(fc.constantFrom("HGET", "HEXISTS"), key, field),
    command(fc.constantFrom("HLEN", "HGETALL"), key),
    command("HDEL", key, some(field)),
    command("HINCRBY", key, field, number),
  ],
  sortedSets: [
    command("ZADD", key, maybe("NX", "XX", "CH"), pairs(score, field)),
    command("ZREM", key, some(field)),
    command("ZCARD", key),
    command("ZSCORE", key, field),
    command(fc.constantFrom("ZCOUNT", "ZREMRANGEBYSCORE"), key, bound, bound),
    command("ZRANGE", key, rank, rank, maybe("WITHSCORES")),
    command("ZRANGEBYSCORE", key, bound, bound, maybe("WITHSCORES")),
    command("ZRANGEBYSCORE", key, bound, bound, "LIMIT", rank, rank),
  ],
  newSortedSets: [command("ZADD", key, maybe("NX", "XX", "GT", "LT", "CH"), pairs(score, field))],
  server: [
    command("PING", fc.subarray(["a", "b"])),
    command("ECHO", value),
    command("PUBLISH", "channel", value),
    command("SCRIPT", "FLUSH"),
    command(fc.constantFrom("GET", "SET", "EVAL", "nonsense", "hset"), fc.subarray(["k", "x\ny"])),
  ],
};

/** Not the core's: what its scripts leave out. */
const PROBES = [
  "return redis.call('INCR', KEYS[1])",
  "return redis.pcall('HGET', KEYS[1], 'f')",
  "return {redis.call('PTTL', KEYS[1]) < 0, redis.call('TYPE', KEYS[1]), 1.9, 'x', false}",
  "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('NONSENSE')",
  "local held = redis.call('GET', KEYS[1])\nreturn held .. 'x'",
  "return tostring(tonumber(ARGV[1])) .. ' ' .. #ARGV[1]",
];

export const SCRIPTS: Readonly<Record<string, Script>> = { ACQUIRE, EXTEND, RELEASE, LOOK };

const lockKeys = fc.uniqueArray(key, { minLength: 1, maxLength: 4 }).map((keys) => keys.sort());

/** A call of one of the core's scripts, as the core makes it. */
const scriptCall = fc
  .record({
    name: fc.constantFrom("ACQUIRE", "ACQUIRE", "EXTEND", "RELEASE", "LOOK"),
    cached: fc.boolean(),
    keys: lockKeys,
    token,
    ms: time,
    stand: fc.boolean(),
  })
  .map(({ name, cached, keys, token: mine, ms, stand }): readonly Word[] => {
    const { sha, lua } = SCRIPTS[name] as Script;
    const call = cached ? ["EVALSHA", sha] : ["EVAL", lua];
    const last = name === "LOOK" || (name === "RELEASE" && !stand) ? "0" : ms;
    return [...call, String(keys.length), ...keys, mine, last];
  });

const probe = command("EVAL", fc.constantFrom(...PROBES), "1", key, value);
const load = command("SCRIPT", "LOAD", fc.constantFrom(...[ACQUIRE, EXTEND].map(({ lua }) => lua)));
const exists = command("SCRIPT", "EXISTS", some(fc.constantFrom(ACQUIRE.sha, LOOK.sha, "x")));

/** Random sequences; `old` leaves out what Redis 6.0 did not have yet. */
export function sequences({
  old = false,
}: {
  readonly old?: boolean;
} = {}): fc.Arbitrary<readonly Step[]> {
  const { newStrings, newKeys, newSortedSets, ...known } = COMMANDS;
  const groups = Object.values(old ? known : COMMANDS).map((group) => fc.oneof(...group));
  const script = fc.oneof({ weight: 6, arbitrary: scriptCall }, fc.oneof(probe, load, exists));
  const wait = fc.constant<"wait">("wait");
  const of = (commands: fc.Arbitrary<Step>, scripts: number) => {
    const step = fc.oneof(
      { weight: 12, arbitrary: commands },
      { weight: scripts, arbitrary: script },
      { weight: 1, arbitrary: wait },
    );
    return fc.array(step, { minLength: 1, maxLength: 40, size: "max" });
  };
  // A mixture of everything seldom does two things to one hash: half of the sequences keep to one subject.
  const mixed = of(fc.oneof(...groups), 12);
  return fc.oneof(mixed, fc.oneof(...groups.map((group) => of(group, 2))));
}
