import { numberArgument, textArgument } from "./arguments.ts";
import { format } from "./format.ts";
import type { LuaFunction, LuaValue } from "./values.ts";

/** The part of Lua's `string` that scripts have here; patterns are not among it. */
export const stringLibrary: Record<string, LuaFunction> = {
  format,
  byte(args, host) {
    const text = textArgument(args, 1, "byte", host);
    const first = optionalNumber(args, 2, "byte", 1, host);
    const [from, to] = range(text, first, optionalNumber(args, 3, "byte", first, host));
    return Array.from(text.slice(from, to), (char): LuaValue => char.charCodeAt(0));
  },
  char(args, host) {
    return args
      .map((_, index) => String.fromCharCode(numberArgument(args, index + 1, "char", host) & 255))
      .join("");
  },
  len: (args, host) => textArgument(args, 1, "len", host).length,
  // Only ASCII letters have a case in Redis' locale.
  lower: (args, host) =>
    textArgument(args, 1, "lower", host).replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  upper: (args, host) =>
    textArgument(args, 1, "upper", host).replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
  rep(args, host) {
    const text = textArgument(args, 1, "rep", host);
    return text.repeat(Math.max(0, Math.trunc(numberArgument(args, 2, "rep", host))));
  },
  reverse: (args, host) => [...textArgument(args, 1, "reverse", host)].reverse().join(""),
  sub(args, host) {
    const text = textArgument(args, 1, "sub", host);
    const first = numberArgument(args, 2, "sub", host);
    return text.slice(...range(text, first, optionalNumber(args, 3, "sub", -1, host)));
  },
};

function optionalNumber(
  args: LuaValue[],
  position: number,
  name: string,
  fallback: number,
  host: Parameters<LuaFunction>[1],
): number {
  return args[position - 1] === undefined ? fallback : numberArgument(args, position, name, host);
}

/** Lua counts from 1 and from the end with negative numbers; both ends are included. */
function range({ length }: string, first: number, last: number): [from: number, to: number] {
  const at = (position: number) => (position < 0 ? length + position + 1 : position);
  const from = Math.max(1, at(Math.trunc(first)));
  const to = Math.min(length, at(Math.trunc(last)));
  return from > to ? [0, 0] : [from - 1, to];
}
