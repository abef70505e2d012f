import type { Command } from "../command.ts";
import { addExact, parseInteger } from "../integer.ts";
import type { Entry, Keyspace } from "../keyspace.ts";
import {
  invalidExpireTime,
  notAnInteger,
  OK,
  type Reply,
  ReplyError,
  syntaxError,
  wrongType,
} from "../reply.ts";
import type { Server } from "../server.ts";
import { expiryOptions, parseExpiry } from "./expiry.ts";

export const stringCommands: Command[] = [
  { name: "get", arity: 2, run: ({ keyspace }, [, key]) => keyspace.string(key!) ?? null },
  {
    name: "mget",
    arity: -2,
    run: ({ keyspace }, [, ...keys]) => keys.map((key) => stringOrNull(keyspace, key)),
  },
  { name: "set", arity: -3, run: ({ keyspace }, args) => set(keyspace, args) },
  { name: "incr", arity: 2, run: ({ keyspace }, [, key]) => increment(keyspace, key!, "1") },
  { name: "decr", arity: 2, run: ({ keyspace }, [, key]) => increment(keyspace, key!, "-1") },
  {
    name: "incrby",
    arity: 3,
    run({ keyspace }, [, key, by]) {
      parseInteger(by!);
      return increment(keyspace, key!, by!);
    },
  },
  { name: "getdel", arity: 2, run: getAndDelete },
];

interface SetOptions {
  condition: "NX" | "XX" | undefined;
  returnsOld: boolean;
  keepsTtl: boolean;
  expiresAtMs: number;
}

function set(keyspace: Keyspace, args: readonly string[]): Reply {
  const key = args[1]!;
  const options = args.length === 3 ? PLAIN : setOptions(args, keyspace.nowMs);
  const entry = keyspace.find(key);
  if (options.returnsOld && entry && typeof entry.value !== "string") throw wrongType();
  const old = options.returnsOld ? oldValue(entry) : undefined;
  if (options.condition && (options.condition === "NX") === (entry !== undefined)) {
    return old ?? null;
  }
  const expiresAtMs = options.keepsTtl
    ? (entry?.expiresAtMs ?? Number.POSITIVE_INFINITY)
    : options.expiresAtMs;
  keyspace.set(key, args[2]!, expiresAtMs);
  return old === undefined ? OK : old;
}

const PLAIN: SetOptions = {
  condition: undefined,
  returnsOld: false,
  keepsTtl: false,
  expiresAtMs: Number.POSITIVE_INFINITY,
};

function setOptions(args: readonly string[], nowMs: number): SetOptions {
  const options: SetOptions = { ...PLAIN };
  let expiry: [text: string, option: string] | undefined;
  for (let index = 3; index < args.length; index++) {
    const option = args[index]!.toUpperCase();
    if (option === "NX" || option === "XX") {
      if (options.condition && options.condition !== option) throw syntaxError();
      options.condition = option;
    } else if (option === "GET") {
      options.returnsOld = true;
    } else if (option === "KEEPTTL" && !expiry) {
      options.keepsTtl = true;
    } else if (
      Object.hasOwn(expiryOptions, option) &&
      !expiry &&
      !options.keepsTtl &&
      index + 1 < args.length
    ) {
      index += 1;
      expiry = [args[index]!, option];
    } else {
      throw syntaxError();
    }
  }
  if (expiry) {
    const [text, option] = expiry;
    if (parseInteger(text) <= 0) throw invalidExpireTime("set");
    options.expiresAtMs = parseExpiry(text, expiryOptions[option]!, nowMs, "set");
  }
  return options;
}

function oldValue(entry: Entry | undefined): string | null {
  return (entry?.value as string | undefined) ?? null;
}

function increment(keyspace: Keyspace, key: string, by: string): Reply {
  const old = keyspace.string(key);
  const sum = addExact(old ?? "0", by, notAnInteger);
  if (sum === undefined) {
    throw new ReplyError("ERR increment or decrement would overflow");
  }
  keyspace.set(key, sum, keyspace.find(key)?.expiresAtMs ?? Number.POSITIVE_INFINITY);
  return Number(sum);
}

function getAndDelete({ keyspace }: Server, [, key]: readonly string[]): Reply {
  const value = keyspace.string(key!);
  keyspace.delete(key!);
  return value ?? null;
}

function stringOrNull(keyspace: Keyspace, key: string): string | null {
  const value = keyspace.find(key)?.value;
  return typeof value === "string" ? value : null;
}
