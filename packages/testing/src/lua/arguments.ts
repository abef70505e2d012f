import {
  errorAt,
  type Host,
  type LuaError,
  LuaTable,
  type LuaValue,
  toNumber,
  toText,
  typeName,
} from "./values.ts";

/*
 * What the library's functions are given, checked as Lua checks it. `position` counts from 1.
 */

export function numberArgument(
  args: LuaValue[],
  position: number,
  name: string,
  host: Host,
): number {
  const number = toNumber(args[position - 1]);
  if (number === undefined) throw badArgument(args, position, name, "number", host);
  return number;
}

export function textArgument(args: LuaValue[], position: number, name: string, host: Host): string {
  const text = toText(args[position - 1]);
  if (text === undefined) throw badArgument(args, position, name, "string", host);
  return text;
}

export function tableArgument(
  args: LuaValue[],
  position: number,
  name: string,
  host: Host,
): LuaTable {
  const table = args[position - 1];
  if (!(table instanceof LuaTable)) throw badArgument(args, position, name, "table", host);
  return table;
}

function badArgument(
  args: LuaValue[],
  position: number,
  name: string,
  expected: string,
  host: Host,
): LuaError {
  const got = position > args.length ? "no value" : typeName(args[position - 1]);
  const message = `bad argument #${position} to '${name}' (${expected} expected, got ${got})`;
  return errorAt(host.line, message);
}
