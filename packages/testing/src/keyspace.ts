import { wrongType } from "./reply.ts";
import { SortedSet } from "./sorted-set.ts";

/** What a key holds; hashes are maps from field to value. */
export type StoredValue = string | Map<string, string> | SortedSet;

/** A key's value and when it expires, in ms since the epoch (Infinity: never). */
export interface Entry {
  value: StoredValue;
  expiresAtMs: number;
}

const SWEEP_FROM = 1_024;

/** The keys of a node. `nowMs` stands still while a command or script runs. */
export class Keyspace {
  nowMs = 0;
  #entries = new Map<string, Entry>();
  #sweepAt = SWEEP_FROM;

  find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    // Redis: a key lives through its last millisecond (`now > when` is expired).
    if (entry && this.nowMs > entry.expiresAtMs) {
      this.#entries.delete(key);
      return undefined;
    }
    return entry;
  }

  /** @throws ReplyError when the key holds something else. */
  string(key: string): string | undefined {
    const value = this.find(key)?.value;
    if (value !== undefined && typeof value !== "string") throw wrongType();
    return value;
  }

  /** @throws ReplyError when the key holds something else. */
  hash(key: string): Map<string, string> | undefined {
    const value = this.find(key)?.value;
    if (value !== undefined && !(value instanceof Map)) throw wrongType();
    return value;
  }

  /** @throws ReplyError when the key holds something else. */
  sortedSet(key: string): SortedSet | undefined {
    const value = this.find(key)?.value;
    if (value !== undefined && !(value instanceof SortedSet)) throw wrongType();
    return value;
  }

  set(key: string, value: StoredValue, expiresAtMs: number): void {
    this.#entries.set(key, { value, expiresAtMs });
    if (this.#entries.size >= this.#sweepAt) {
      this.#sweep();
    }
  }

  delete(key: string): boolean {
    const existed = this.find(key) !== undefined;
    this.#entries.delete(key);
    return existed;
  }

  clear(): void {
    this.#entries.clear();
  }

  /** All live entries, in the order in which their keys appeared. */
  live(): [key: string, entry: Entry][] {
    this.#sweep();
    return [...this.#entries];
  }

  /** A deep copy of all entries. */
  copyEntries(): Map<string, Entry> {
    return copy(this.#entries);
  }

  /** Replaces all entries by a copy of others. */
  replaceEntries(entries: ReadonlyMap<string, Entry>): void {
    this.#entries = copy(entries);
  }

  // Keys that nobody asks for again would stay for ever. Swept at twice the number that was left
  // the last time, the cost per key is constant.
  #sweep(): void {
    for (const [key, entry] of this.#entries) {
      if (this.nowMs > entry.expiresAtMs) this.#entries.delete(key);
    }
    this.#sweepAt = Math.max(SWEEP_FROM, this.#entries.size * 2);
  }
}

function copy(entries: ReadonlyMap<string, Entry>): Map<string, Entry> {
  return new Map(
    Array.from(entries, ([key, { value, expiresAtMs }]): [string, Entry] => [
      key,
      { value: copyValue(value), expiresAtMs },
    ]),
  );
}

function copyValue(value: StoredValue): StoredValue {
  if (typeof value === "string") return value;
  return value instanceof Map ? new Map(value) : new SortedSet(value.ordered());
}
