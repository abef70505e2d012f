import { describe, expect, it } from "vitest";
import { memoryNode } from "../src/index.ts";

/** A node whose clock is set by hand. */
function nodeAt(wallMs: number) {
  const clock = { now: wallMs, wallMs: () => clock.now };
  const node = memoryNode({ clock });
  /** Executes a command line; blanks separate words, '' is an empty word. */
  const run = (line: string) =>
    node.execute(line.split(" ").map((word) => (word === "''" ? "" : word)));
  return { clock, node, run };
}

const UNKNOWN = "ERR unknown command";
const NOT_AN_INTEGER = "ERR value is not an integer or out of range";
const SYNTAX = "ERR syntax error";
const WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";

// Every error text and reply below was read from redis-server 7.0.15.
describe("a command refused", () => {
  it.each([
    ["foo bar baz", `${UNKNOWN} 'foo', with args beginning with: 'bar' 'baz' `],
    ["foo", `${UNKNOWN} 'foo', with args beginning with: `],
    ["get", "ERR wrong number of arguments for 'get' command"],
    ["GeT a b", "ERR wrong number of arguments for 'get' command"],
    ["set k", "ERR wrong number of arguments for 'set' command"],
    ["set k v foo", SYNTAX],
    ["set k v px", SYNTAX],
    ["set k v px 0", "ERR invalid expire time in 'set' command"],
    ["set k v px -1", "ERR invalid expire time in 'set' command"],
    ["set k v ex 0", "ERR invalid expire time in 'set' command"],
    ["set k v pxat 0", "ERR invalid expire time in 'set' command"],
    ["set k v px abc", NOT_AN_INTEGER],
    ["set k v px 1.5", NOT_AN_INTEGER],
    ["set k v px 010", NOT_AN_INTEGER],
    ["set k v px +10", NOT_AN_INTEGER],
    ["set k v px ''", NOT_AN_INTEGER],
    ["set k v px 99999999999999999999", NOT_AN_INTEGER],
    ["set k v px 9223372036854775807", "ERR invalid expire time in 'set' command"],
    ["set k v ex 9223372036854775807", "ERR invalid expire time in 'set' command"],
    ["set k v px 100 ex 1", SYNTAX],
    ["set k v px 100 keepttl", SYNTAX],
    ["set k v keepttl px 100", SYNTAX],
    ["set k v nx xx", SYNTAX],
    ["pexpire k", "ERR wrong number of arguments for 'pexpire' command"],
    ["pexpire k abc", NOT_AN_INTEGER],
    ["pexpire k 1 foo", "ERR Unsupported option foo"],
    ["pexpire k 1 nx xx", "ERR NX and XX, GT or LT options at the same time are not compatible"],
    ["pexpire k 1 nx gt", "ERR NX and XX, GT or LT options at the same time are not compatible"],
    ["pexpire k 1 gt lt", "ERR GT and LT options at the same time are not compatible"],
    ["pexpire k 9223372036854775807", "ERR invalid expire time in 'pexpire' command"],
    ["expire k 9223372036854775807", "ERR invalid expire time in 'expire' command"],
    ["expire k -9223372036854775808", "ERR invalid expire time in 'expire' command"],
    ["hset h a", "ERR wrong number of arguments for 'hset' command"],
    ["hset h a 1 b", "ERR wrong number of arguments for 'hset' command"],
    ["hincrby h a x", NOT_AN_INTEGER],
    ["flushall foo", SYNTAX],
    ["script foo", "ERR unknown subcommand 'foo'. Try SCRIPT HELP."],
    ["script load", "ERR wrong number of arguments for 'script|load' command"],
    ["script exists", "ERR wrong number of arguments for 'script|exists' command"],
    ["script flush foo", "ERR SCRIPT FLUSH only support SYNC|ASYNC option"],
    ["publish c", "ERR wrong number of arguments for 'publish' command"],
    ["ping a b", "ERR wrong number of arguments for 'ping' command"],
    ["evalsha abc 0", "NOSCRIPT No matching script. Please use EVAL."],
    ["eval return x", NOT_AN_INTEGER],
    ["eval return 2 a", "ERR Number of keys can't be greater than number of args"],
    ["eval return -1", "ERR Number of keys can't be negative"],
    ["zadd z x a", "ERR value is not a valid float"],
    ["zadd z nan a", "ERR value is not a valid float"],
    ["zadd z nx gt 1 a", "ERR GT, LT, and/or NX options at the same time are not compatible"],
    ["zrange z 0 x", NOT_AN_INTEGER],
    ["zrange z 0 1 foo", SYNTAX],
    ["zrangebyscore z foo 3", "ERR min or max is not a float"],
  ])("%s", (line, message) => {
    const { run, node } = nodeAt(1_000);
    expect(() => run(line)).toThrow(expect.objectContaining({ message }));
    expect(node.dump()).toEqual({});
  });

  it.each([
    ["hget k a"],
    ["hset k a 1"],
    ["hdel k a"],
    ["hincrby k a 1"],
    ["zadd k 1 a"],
    ["zcard k"],
    ["get h"],
    ["incr h"],
    ["set h x get"],
    ["set h x nx get"],
  ])("%s: wrong type", (line) => {
    const { run } = nodeAt(1_000);
    run("set k v");
    run("hset h a 1");
    expect(() => run(line)).toThrow(expect.objectContaining({ message: WRONGTYPE }));
  });

  it("shows at most 128 characters of the arguments of an unknown command", () => {
    const { run } = nodeAt(0);
    expect(() => run(`foo ${"x".repeat(200)} y`)).toThrow(
      expect.objectContaining({
        message: `${UNKNOWN} 'foo', with args beginning with: '${"x".repeat(128)}' `,
      }),
    );
  });
});

/** Lines with the reply that each gives, executed in turn on one node. */
type Session = [line: string, reply: unknown][];

describe("a session", () => {
  const replay = (session: Session) => {
    const { run } = nodeAt(1_000);
    for (const [line, reply] of session) {
      expect([line, run(line)]).toEqual([line, reply]);
    }
  };

  it("of SET with its options", () => {
    replay([
      ["SET k v", "OK"],
      ["SET k v nx get", "v"],
      ["SET k v2 GET", "v"],
      ["SET k v3 NX", null],
      ["GET k", "v2"],
      ["SET k v3 XX PX 10000", "OK"],
      ["PTTL k", 10_000],
      ["SET k v4 KEEPTTL", "OK"],
      ["PTTL k", 10_000],
      ["SET k v5", "OK"],
      ["PTTL k", -1],
      ["SET new v XX", null],
      ["SET new v XX GET", null],
      ["SET new v NX GET", null],
      ["GET new", "v"],
      ["SET k v EX 7", "OK"],
      ["TTL k", 7],
      ["SET k v PXAT 1", "OK"],
      ["EXISTS k", 0],
    ]);
  });

  it("of expiry commands", () => {
    replay([
      ["SET k v", "OK"],
      ["PEXPIRE k 10000 GT", 0],
      ["PEXPIRE k 10000 LT", 1],
      ["PEXPIRE k 20000 NX", 0],
      ["PEXPIRE k 20000 GT", 1],
      ["PEXPIRE k 5000 GT", 0],
      ["PEXPIRE k 5000 LT", 1],
      ["PEXPIRE k 5000 XX LT", 0],
      ["PTTL k", 5_000],
      ["PEXPIRE missing 100", 0],
      ["PEXPIRE k 1499", 1],
      ["TTL k", 1],
      ["PEXPIRE k 1500", 1],
      ["TTL k", 2],
      ["PERSIST k", 1],
      ["PERSIST k", 0],
      ["PTTL k", -1],
      ["TTL k", -1],
      ["PTTL missing", -2],
      ["TTL missing", -2],
      ["PEXPIRE k 0", 1],
      ["EXISTS k", 0],
      ["SET k v", "OK"],
      ["PEXPIRE k -5", 1],
      ["EXISTS k", 0],
      ["SET k v", "OK"],
      ["EXPIRE k 3", 1],
      ["PTTL k", 3_000],
      ["PEXPIREAT k 1000", 1],
      ["EXISTS k", 0],
    ]);
  });

  it("of counters, exact in 64 bits", () => {
    replay([
      ["INCR n", 1],
      ["INCRBY n 5", 6],
      ["DECR n", 5],
      ["SET n 9223372036854775806", "OK"],
      ["INCR n", Number(9223372036854775807n)],
      ["GET n", "9223372036854775807"],
      ["SET n 123456789012345678", "OK"],
      ["INCR n", Number(123456789012345679n)],
      ["GET n", "123456789012345679"],
      ["SET n 1 PX 50", "OK"],
      ["INCR n", 2],
      ["PTTL n", 50],
    ]);
  });

  it.each(["abc", " 1", "01", "-0", "", "1e3", "9223372036854775808"])("of INCR on %j", (text) => {
    const { node } = nodeAt(0);
    node.execute(["SET", "n", text]);
    expect(() => node.execute(["INCR", "n"])).toThrow(NOT_AN_INTEGER);
  });

  it("of INCR at the largest integer", () => {
    const { run } = nodeAt(0);
    run("SET n 9223372036854775807");
    expect(() => run("INCR n")).toThrow("ERR increment or decrement would overflow");
  });

  it("of hashes", () => {
    replay([
      ["HSET h a 1", 1],
      ["HSET h a 1 b 2", 1],
      ["HGET h a", "1"],
      ["HGET h nope", null],
      ["HGET nope a", null],
      ["HINCRBY h a 5", 6],
      ["HINCRBY h c -1", -1],
      ["HGETALL h", ["a", "6", "b", "2", "c", "-1"]],
      ["HGETALL nope", []],
      ["HDEL h a nope", 1],
      ["HLEN h", 2],
      ["HEXISTS h b", 1],
      ["TYPE h", "hash"],
      ["HDEL h b c", 2],
      ["EXISTS h", 0],
    ]);
  });

  it("of HINCRBY on a field that is no integer", () => {
    const { run } = nodeAt(0);
    run("HSET h s str");
    expect(() => run("HINCRBY h s 1")).toThrow("ERR hash value is not an integer");
  });

  it("of sorted sets", () => {
    replay([
      ["ZADD z 1 a", 1],
      ["ZADD z NX 2 a", 0],
      ["ZADD z XX CH 2 a 3 b", 1],
      ["ZADD z 3 b 3 aa", 2],
      ["ZRANGE z 0 -1 WITHSCORES", ["a", "2", "aa", "3", "b", "3"]],
      ["ZRANGE z -2 -1", ["aa", "b"]],
      ["ZRANGE z 5 9", []],
      ["ZRANGE z 0 -9", []],
      ["ZRANGEBYSCORE z (2 3", ["aa", "b"]],
      ["ZRANGEBYSCORE z -inf +inf LIMIT 1 1", ["aa"]],
      ["ZRANGEBYSCORE z 2 2 WITHSCORES", ["a", "2"]],
      ["ZCOUNT z -inf (3", 1],
      ["ZSCORE z a", "2"],
      ["ZSCORE z nope", null],
      ["ZADD z GT 1 a 9 b", 0],
      ["ZSCORE z b", "9"],
      ["ZADD z 0.1 f inf i 1e20 l", 3],
      ["ZSCORE z f", "0.10000000000000001"],
      ["ZSCORE z i", "inf"],
      ["ZSCORE z l", "1e+20"],
      ["ZCARD z", 6],
      ["ZREM z i l nope", 2],
      ["ZREMRANGEBYSCORE z -inf 3", 3],
      ["TYPE z", "zset"],
      ["ZREM z b", 1],
      ["EXISTS z", 0],
    ]);
  });

  it("of keys and the rest", () => {
    replay([
      ["PING", "PONG"],
      ["ping hi", "hi"],
      ["ECHO hi", "hi"],
      ["SET a 1", "OK"],
      ["HSET b f 1", 1],
      ["EXISTS a a b nope", 3],
      ["TYPE a", "string"],
      ["TYPE nope", "none"],
      ["MGET a b nope", ["1", null, null]],
      ["DBSIZE", 2],
      ["DEL a b a", 2],
      ["SET k v", "OK"],
      ["GETDEL k", "v"],
      ["GETDEL k", null],
      ["DBSIZE", 0],
      ["SET k v", "OK"],
      ["FLUSHALL ASYNC", "OK"],
      ["DBSIZE", 0],
      ["PUBLISH c m", 0],
    ]);
  });

  it.each([
    ["*", ["a", "abc", "a*c", "lock:a"]],
    ["a?c", ["abc", "a*c"]],
    ["a\\*c", ["a*c"]],
    ["lock:*", ["lock:a"]],
    ["a[a-c]c", ["abc"]],
    ["a[^b]c", ["a*c"]],
    ["A", []],
    ["a.c", []],
  ])("of KEYS %s", (pattern, found) => {
    const { node } = nodeAt(0);
    for (const key of ["a", "abc", "a*c", "lock:a"]) node.execute(["SET", key, ""]);
    expect(node.execute(["KEYS", pattern])).toEqual(found);
  });
});

describe("expiry", () => {
  it("lets a key live through its last millisecond, PTTL 0, as Redis does", () => {
    const { clock, run, node } = nodeAt(1_000);
    run("SET k v PX 100");
    clock.now = 1_100;
    expect([run("GET k"), run("PTTL k"), run("EXISTS k"), run("TTL k")]).toEqual(["v", 0, 1, 0]);
    expect(node.dump()).toEqual({ k: { value: "v", remainingMs: 0 } });
    clock.now = 1_100.9;
    expect(run("GET k")).toBe("v");
    clock.now = 1_101;
    expect([run("GET k"), run("PTTL k"), run("DBSIZE")]).toEqual([null, -2, 0]);
    expect(node.dump()).toEqual({});
  });

  it("reads whole milliseconds", () => {
    const { clock, run } = nodeAt(1_000.9);
    run("SET k v PX 100");
    clock.now = 1_001.1;
    expect(run("PTTL k")).toBe(99);
  });

  it("lets NX take an expired key", () => {
    const { clock, run } = nodeAt(1_000);
    run("SET k old PX 100");
    clock.now = 1_100;
    expect(run("SET k new NX")).toBeNull();
    clock.now = 1_101;
    expect(run("SET k new NX GET")).toBeNull();
    expect(run("GET k")).toBe("new");
  });

  it("follows a wall clock that jumps back", () => {
    const { clock, run } = nodeAt(10_000);
    run("SET k v PX 100");
    clock.now = 5_000;
    expect(run("PTTL k")).toBe(5_100);
  });

  it("keeps no key that nobody asks for again", () => {
    const { clock, node } = nodeAt(0);
    for (let n = 0; n < 20_000; n++) {
      clock.now = n;
      node.execute(["SET", `k${n}`, "v", "PX", "10"]);
    }
    expect(node.snapshot().entries.size).toBeLessThan(1_100);
  });

  it("gives TIME in seconds and microseconds", () => {
    const { run } = nodeAt(1_760_000_000_123.5);
    expect(run("TIME")).toEqual(["1760000000", "123500"]);
  });
});

it("keeps text beyond ASCII, and orders it by its bytes", () => {
  const node = memoryNode();
  node.execute(["HSET", "schlüssel", "größe", "😀"]);
  expect(node.execute(["HGETALL", "schlüssel"])).toEqual(["größe", "😀"]);
  expect(node.dump()).toEqual({ schlüssel: { value: { größe: "😀" }, remainingMs: null } });
  expect(node.execute(["EVAL", "return #ARGV[1]", "0", "größe"])).toBe(7);
  // In UTF-16 the emoji would come first.
  node.execute(["ZADD", "z", "1", "\uffee", "1", "😀"]);
  expect(node.execute(["ZRANGE", "z", "0", "-1"])).toEqual(["\uffee", "😀"]);
});

it("refuses a command that is empty or has a word that is no string", () => {
  const node = memoryNode();
  expect(() => node.execute([])).toThrow(TypeError);
  expect(() => node.execute(["SET", "k", 5 as unknown as string])).toThrow(
    "a command's words must be strings, got 5 in SET",
  );
});
