import type { Command } from "../command.ts";
import { parseInteger } from "../integer.ts";
import type { Keyspace } from "../keyspace.ts";
import { formatArgument, parseNumber } from "../lua/numbers.ts";
import { type Reply, ReplyError, syntaxError } from "../reply.ts";
import type { Server } from "../server.ts";
import { type Scored, SortedSet } from "../sorted-set.ts";

export const sortedSetCommands: Command[] = [
  { name: "zadd", arity: -4, run: add },
  {
    name: "zrem",
    arity: -3,
    run: ({ keyspace }, [, key, ...members]) => remove(keyspace, key!, members),
  },
  { name: "zcard", arity: 2, run: ({ keyspace }, [, key]) => keyspace.sortedSet(key!)?.size ?? 0 },
  {
    name: "zscore",
    arity: 3,
    run({ keyspace }, [, key, member]) {
      const score = keyspace.sortedSet(key!)?.score(member!);
      return score === undefined ? null : formatScore(score);
    },
  },
  { name: "zcount", arity: 4, run: (server, args) => inScoreRange(server, args).length },
  { name: "zrange", arity: -4, run: rangeByRank },
  { name: "zrangebyscore", arity: -4, run: rangeByScore },
  {
    name: "zremrangebyscore",
    arity: 4,
    run(server, args) {
      const members = inScoreRange(server, args).map(([member]) => member);
      return remove(server.keyspace, args[1]!, members);
    },
  },
];

function add({ keyspace }: Server, [, key, ...words]: readonly string[]): Reply {
  const flags = new Set<string>();
  while (/^(?:NX|XX|GT|LT|CH|INCR)$/i.test(words[0] ?? "")) {
    flags.add(words.shift()!.toUpperCase());
  }
  if (flags.has("INCR")) {
    throw new Error("memoryNode does not support ZADD with INCR");
  }
  checkFlags(flags, words);
  const pairs = pairsOf(words);
  const set = keyspace.sortedSet(key!) ?? new SortedSet();
  const isNew = set.size === 0;
  let added = 0;
  let changed = 0;
  for (const [member, score] of pairs) {
    const old = set.score(member);
    if (!admits(flags, old, score)) continue;
    set.set(member, score);
    added += Number(old === undefined);
    changed += Number(old !== score);
  }
  if (isNew && set.size > 0) keyspace.set(key!, set, Number.POSITIVE_INFINITY);
  return flags.has("CH") ? changed : added;
}

function checkFlags(flags: ReadonlySet<string>, words: readonly string[]): void {
  if (words.length === 0 || words.length % 2 === 1) throw syntaxError();
  if (flags.has("NX") && flags.has("XX")) {
    throw new ReplyError("ERR XX and NX options at the same time are not compatible");
  }
  const exclusive = ["NX", "GT", "LT"].filter((flag) => flags.has(flag));
  if (exclusive.length > 1) {
    throw new ReplyError("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
}

function admits(flags: ReadonlySet<string>, old: number | undefined, score: number): boolean {
  if (old === undefined) return !flags.has("XX");
  return (
    !flags.has("NX") && !(flags.has("GT") && score <= old) && !(flags.has("LT") && score >= old)
  );
}

function pairsOf(words: readonly string[]): Scored[] {
  const pairs: Scored[] = [];
  for (let index = 0; index < words.length; index += 2) {
    const score = parseScore(words[index]!, "ERR value is not a valid float");
    pairs.push([words[index + 1]!, score]);
  }
  return pairs;
}

function remove(keyspace: Keyspace, key: string, members: readonly string[]): number {
  const set = keyspace.sortedSet(key);
  if (!set) return 0;
  const removed = members.filter((member) => set.delete(member)).length;
  if (set.size === 0) keyspace.delete(key);
  return removed;
}

function rangeByRank({ keyspace }: Server, args: readonly string[]): Reply {
  const [, key, from, to, ...flags] = args;
  const [withScores] = flags;
  if (flags.length > 1 || (withScores !== undefined && !/^withscores$/i.test(withScores))) {
    throw syntaxError();
  }
  const [first, last] = [parseInteger(from!), parseInteger(to!)];
  const all = keyspace.sortedSet(key!)?.ordered() ?? [];
  const at = (rank: number) => (rank < 0 ? Math.max(0, all.length + rank) : rank);
  const end = last < -all.length ? 0 : at(last) + 1;
  return listed(all.slice(at(first), end), withScores !== undefined);
}

function rangeByScore(server: Server, args: readonly string[]): Reply {
  let withScores = false;
  let [offset, count] = [0, -1];
  for (let index = 4; index < args.length; index++) {
    if (/^withscores$/i.test(args[index]!)) {
      withScores = true;
    } else if (/^limit$/i.test(args[index]!) && index + 2 < args.length) {
      [offset, count] = [parseInteger(args[index + 1]!), parseInteger(args[index + 2]!)];
      index += 2;
    } else {
      throw syntaxError();
    }
  }
  const found = inScoreRange(server, args);
  if (offset < 0) return [];
  return listed(found.slice(offset, count < 0 ? undefined : offset + count), withScores);
}

function inScoreRange({ keyspace }: Server, [, key, min, max]: readonly string[]): Scored[] {
  const low = parseBound(min!);
  const high = parseBound(max!);
  return (keyspace.sortedSet(key!)?.ordered() ?? []).filter(
    ([, score]) =>
      (low.open ? score > low.score : score >= low.score) &&
      (high.open ? score < high.score : score <= high.score),
  );
}

function parseBound(text: string): { score: number; open: boolean } {
  const open = text.startsWith("(");
  return { open, score: parseScore(open ? text.slice(1) : text, "ERR min or max is not a float") };
}

function parseScore(text: string, message: string): number {
  const score = /\s/.test(text) ? undefined : parseNumber(text);
  if (score === undefined || Number.isNaN(score)) throw new ReplyError(message);
  return score;
}

function listed(members: readonly Scored[], withScores: boolean): Reply {
  return members.flatMap(([member, score]) =>
    withScores ? [member, formatScore(score)] : [member],
  );
}

/** Redis 7.0 writes a score with 17 digits. */
function formatScore(score: number): string {
  return formatArgument(score);
}
