import type { Command } from "../command.ts";
import { type Reply, ReplyError, StatusReply } from "../reply.ts";
import type { Server } from "../server.ts";
import { type ExpiryUnit, parseExpiry } from "./expiry.ts";
import { globExpression } from "./glob.ts";

export const keyCommands: Command[] = [
  { name: "del", arity: -2, run: deleteKeys },
  { name: "unlink", arity: -2, run: deleteKeys },
  {
    name: "exists",
    arity: -2,
    run: ({ keyspace }, [, ...keys]) => keys.filter((key) => keyspace.find(key)).length,
  },
  { name: "type", arity: 2, run: ({ keyspace }, [, key]) => typeOf(keyspace.find(key!)?.value) },
  {
    name: "keys",
    arity: 2,
    run({ keyspace }, [, pattern]) {
      const matches = globExpression(pattern!);
      return keyspace.live().flatMap(([key]) => (matches.test(key) ? [key] : []));
    },
  },
  { name: "dbsize", arity: 1, run: ({ keyspace }) => keyspace.live().length },
  { name: "pttl", arity: 2, run: (server, [, key]) => remaining(server, key!) },
  {
    name: "ttl",
    arity: 2,
    run(server, [, key]) {
      const ms = remaining(server, key!);
      return ms < 0 ? ms : Math.floor((ms + 500) / 1_000);
    },
  },
  {
    name: "persist",
    arity: 2,
    run({ keyspace }, [, key]) {
      const entry = keyspace.find(key!);
      if (!entry || entry.expiresAtMs === Number.POSITIVE_INFINITY) return 0;
      entry.expiresAtMs = Number.POSITIVE_INFINITY;
      return 1;
    },
  },
  expireCommand("expire", { unitMs: 1_000, absolute: false }),
  expireCommand("pexpire", { unitMs: 1, absolute: false }),
  expireCommand("expireat", { unitMs: 1_000, absolute: true }),
  expireCommand("pexpireat", { unitMs: 1, absolute: true }),
];

function deleteKeys({ keyspace }: Server, args: readonly string[]): number {
  let deleted = 0;
  for (let index = 1; index < args.length; index++) {
    if (keyspace.delete(args[index]!)) deleted += 1;
  }
  return deleted;
}

/** PTTL's answer: -2 no such key, -1 no expiry. */
function remaining({ keyspace }: Server, key: string): number {
  const entry = keyspace.find(key);
  if (!entry) return -2;
  return entry.expiresAtMs === Number.POSITIVE_INFINITY ? -1 : entry.expiresAtMs - keyspace.nowMs;
}

function typeOf(value: unknown): StatusReply {
  if (value === undefined) return new StatusReply("none");
  if (typeof value === "string") return new StatusReply("string");
  return new StatusReply(value instanceof Map ? "hash" : "zset");
}

function expireCommand(name: string, unit: ExpiryUnit): Command {
  return { name, arity: -3, run: (server, args) => expire(server, args, name, unit) };
}

function expire(
  { keyspace }: Server,
  [, key, time, ...flags]: readonly string[],
  name: string,
  unit: ExpiryUnit,
): Reply {
  const conditions = flags.length === 0 ? NO_CONDITIONS : parseConditions(flags);
  const expiresAtMs = parseExpiry(time!, unit, keyspace.nowMs, name);
  const entry = keyspace.find(key!);
  if (!entry || !allows(conditions, entry.expiresAtMs, expiresAtMs)) {
    return 0;
  }
  if (expiresAtMs <= keyspace.nowMs) {
    keyspace.delete(key!);
  } else {
    entry.expiresAtMs = expiresAtMs;
  }
  return 1;
}

const NO_CONDITIONS: ReadonlySet<string> = new Set();

function parseConditions(flags: readonly string[]): ReadonlySet<string> {
  const conditions = new Set<string>();
  for (const flag of flags) {
    const condition = flag.toUpperCase();
    if (!/^(?:NX|XX|GT|LT)$/.test(condition)) {
      throw new ReplyError(`ERR Unsupported option ${flag}`);
    }
    conditions.add(condition);
  }
  if (conditions.has("NX") && conditions.size > 1) {
    throw new ReplyError("ERR NX and XX, GT or LT options at the same time are not compatible");
  }
  if (conditions.has("GT") && conditions.has("LT")) {
    throw new ReplyError("ERR GT and LT options at the same time are not compatible");
  }
  return conditions;
}

/** A key without expiry counts as one that never ends: GT never applies to it, LT always. */
function allows(conditions: ReadonlySet<string>, oldMs: number, newMs: number): boolean {
  const expires = oldMs !== Number.POSITIVE_INFINITY;
  return (
    !(conditions.has("NX") && expires) &&
    !(conditions.has("XX") && !expires) &&
    !(conditions.has("GT") && newMs <= oldMs) &&
    !(conditions.has("LT") && newMs >= oldMs)
  );
}
