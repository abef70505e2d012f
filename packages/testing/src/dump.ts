import { fromByteString } from "./bytes.ts";
import type { Keyspace, StoredValue } from "./keyspace.ts";

/** One key in a {@link MemoryNodeDump}. */
export interface DumpedKey {
  /** A string; a hash as an object; a sorted set as pairs of member and score, in order. */
  readonly value: string | Record<string, string> | [member: string, score: number][];
  /** Milliseconds until it expires; null: never. */
  readonly remainingMs: number | null;
}

/** The live keys of a memory node, sorted by name. */
export type MemoryNodeDump = Record<string, DumpedKey>;

export function dumpKeyspace(keyspace: Keyspace): MemoryNodeDump {
  const keys = keyspace.live().map(([key, { value, expiresAtMs }]): [string, DumpedKey] => {
    const remainingMs = expiresAtMs - keyspace.nowMs;
    return [
      fromByteString(key),
      {
        value: dumpValue(value),
        remainingMs: remainingMs === Number.POSITIVE_INFINITY ? null : remainingMs,
      },
    ];
  });
  return Object.fromEntries(keys.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function dumpValue(value: StoredValue): DumpedKey["value"] {
  if (typeof value === "string") return fromByteString(value);
  if (value instanceof Map) {
    return Object.fromEntries(
      Array.from(value, ([field, text]) => [fromByteString(field), fromByteString(text)]),
    );
  }
  return value
    .ordered()
    .map(([member, score]): [string, number] => [fromByteString(member), score]);
}
