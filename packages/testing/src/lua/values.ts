import type { Reply } from "../reply.ts";
import { formatNumber, parseNumber } from "./numbers.ts";

/** A Lua value; nil is undefined, strings are byte strings. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;

/** What a call gives: an array stands for any number of values, everything else for exactly one. */
export type LuaResult = LuaValue | LuaValue[];

/** A Lua function, the library's or the script's own. */
export type LuaFunction = (args: LuaValue[], host: Host) => LuaResult;

/** What one run of a script has around it. */
export interface Host {
  readonly keys: LuaTable;
  readonly argv: LuaTable;
  /** The line of the call being made, for error messages. */
  line: number;
  /** Runs a Redis command; throws the error reply. */
  command(command: string[]): Reply;
}

/** An error raised by Lua. */
export class LuaError extends Error {
  /** What `error` was given: a message or a table. */
  readonly value: LuaValue;
  /** Where it was raised, unless the call that raised it tells. */
  readonly line: number | undefined;

  constructor(value: LuaValue, line?: number) {
    super(typeof value === "string" ? value : `a ${typeName(value)} value`);
    this.value = value;
    this.line = line;
  }
}

/** Makes an error at a line, in Lua's format. */
export function errorAt(line: number, message: string): LuaError {
  return new LuaError(`user_script:${line}: ${message}`, line);
}

/** A Lua table: values 1..n in a list, everything else in a map. */
export class LuaTable {
  readonly list: LuaValue[];
  hash: Map<LuaValue, LuaValue> | undefined = undefined;
  /** Redis protects its libraries: assigning a field raises. */
  readonly: boolean = false;

  constructor(list: LuaValue[] = []) {
    this.list = list;
    dropTrailingNils(list);
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === "number" && key >= 1 && key <= this.list.length && Number.isInteger(key)) {
      return this.list[key - 1];
    }
    return this.hash?.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    const { list } = this;
    const isIndex = typeof key === "number" && key >= 1 && Number.isInteger(key);
    if (isIndex && key <= list.length) {
      list[key - 1] = value;
      dropTrailingNils(list);
    } else if (isIndex && key === list.length + 1 && value !== undefined) {
      list.push(value);
      this.hash?.delete(key);
      this.#moveFollowers();
    } else if (value === undefined) {
      this.hash?.delete(key);
    } else {
      this.hash ??= new Map();
      this.hash.set(key, value);
    }
  }

  #moveFollowers(): void {
    for (let key = this.list.length + 1; this.hash?.has(key); key++) {
      this.list.push(this.hash.get(key));
      this.hash.delete(key);
    }
  }
}

function dropTrailingNils(list: LuaValue[]): void {
  while (list.length > 0 && list[list.length - 1] === undefined) {
    list.pop();
  }
}

export function isTruthy(value: LuaValue): boolean {
  return value !== undefined && value !== false;
}

/** Adjusts a call's result to one value. */
export function firstOf(result: LuaResult): LuaValue {
  return Array.isArray(result) ? result[0] : result;
}

export function typeName(value: LuaValue): string {
  if (value === undefined) return "nil";
  return value instanceof LuaTable ? "table" : typeof value;
}

/** The number that arithmetic sees: strings are converted. */
export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" ? parseNumber(value) : undefined;
}

/** The string that concatenation sees: numbers are converted. */
export function toText(value: LuaValue): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" ? formatNumber(value) : undefined;
}
