import { numberArgument, tableArgument, textArgument } from "./arguments.ts";
import { errorAt, type LuaFunction, type LuaTable, toText, typeName } from "./values.ts";

/** The part of Lua's `table` that scripts have here. */
export const tableLibrary: Record<string, LuaFunction> = {
  concat(args, host) {
    const table = tableArgument(args, 1, "concat", host);
    const separator = args[1] === undefined ? "" : textArgument(args, 2, "concat", host);
    const first = args[2] === undefined ? 1 : numberArgument(args, 3, "concat", host);
    const last = args[3] === undefined ? lengthOf(table) : numberArgument(args, 4, "concat", host);
    const parts: string[] = [];
    for (let index = first; index <= last; index++) {
      const value = table.get(index);
      const text = toText(value);
      if (text === undefined) {
        const what = `invalid value (${typeName(value)}) at index ${index} in table for 'concat'`;
        throw errorAt(host.line, what);
      }
      parts.push(text);
    }
    return parts.join(separator);
  },
  insert(args, host) {
    const table = tableArgument(args, 1, "insert", host);
    if (args.length < 2 || args.length > 3) {
      throw errorAt(host.line, "wrong number of arguments to 'insert'");
    }
    const end = lengthOf(table) + 1;
    const at = args.length === 2 ? end : Math.trunc(numberArgument(args, 2, "insert", host));
    for (let index = Math.max(end, at); index > at; index--) {
      table.set(index, table.get(index - 1));
    }
    table.set(at, args[args.length - 1]);
    return [];
  },
  remove(args, host) {
    const table = tableArgument(args, 1, "remove", host);
    const end = lengthOf(table);
    const at = args[1] === undefined ? end : Math.trunc(numberArgument(args, 2, "remove", host));
    if (at < 1 || at > end) return [];
    const removed = table.get(at);
    for (let index = at; index < end; index++) {
      table.set(index, table.get(index + 1));
    }
    table.set(end, undefined);
    return removed;
  },
};

function lengthOf({ list }: LuaTable): number {
  return list.length;
}
