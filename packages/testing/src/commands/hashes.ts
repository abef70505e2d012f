import type { Command } from "../command.ts";
import { addExact, parseInteger } from "../integer.ts";
import type { Keyspace } from "../keyspace.ts";
import { type Reply, ReplyError, wrongArity } from "../reply.ts";
import type { Server } from "../server.ts";

export const hashCommands: Command[] = [
  { name: "hset", arity: -4, run: setFields },
  {
    name: "hget",
    arity: 3,
    run: ({ keyspace }, [, key, field]) => keyspace.hash(key!)?.get(field!) ?? null,
  },
  {
    name: "hexists",
    arity: 3,
    run: ({ keyspace }, [, key, field]) => Number(keyspace.hash(key!)?.has(field!) ?? false),
  },
  { name: "hlen", arity: 2, run: ({ keyspace }, [, key]) => keyspace.hash(key!)?.size ?? 0 },
  {
    name: "hgetall",
    arity: 2,
    run: ({ keyspace }, [, key]) => [...(keyspace.hash(key!) ?? [])].flat(),
  },
  { name: "hdel", arity: -3, run: deleteFields },
  { name: "hincrby", arity: 4, run: incrementField },
];

function setFields({ keyspace }: Server, [, key, ...pairs]: readonly string[]): Reply {
  if (pairs.length % 2 === 1) throw wrongArity("hset");
  const hash = hashToWrite(keyspace, key!);
  const before = hash.size;
  for (let index = 0; index < pairs.length; index += 2) {
    hash.set(pairs[index]!, pairs[index + 1]!);
  }
  return hash.size - before;
}

function deleteFields({ keyspace }: Server, [, key, ...fields]: readonly string[]): Reply {
  const hash = keyspace.hash(key!);
  if (!hash) return 0;
  const deleted = fields.filter((field) => hash.delete(field)).length;
  if (hash.size === 0) keyspace.delete(key!);
  return deleted;
}

function incrementField({ keyspace }: Server, [, key, field, by]: readonly string[]): Reply {
  parseInteger(by!);
  const old = keyspace.hash(key!)?.get(field!) ?? "0";
  const sum = addExact(old, by!, () => new ReplyError("ERR hash value is not an integer"));
  if (sum === undefined) {
    throw new ReplyError("ERR increment or decrement would overflow");
  }
  hashToWrite(keyspace, key!).set(field!, sum);
  return Number(sum);
}

function hashToWrite(keyspace: Keyspace, key: string): Map<string, string> {
  const found = keyspace.hash(key);
  if (found) {
    return found;
  }
  const hash = new Map<string, string>();
  keyspace.set(key, hash, Number.POSITIVE_INFINITY);
  return hash;
}
