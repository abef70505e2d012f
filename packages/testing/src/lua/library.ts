import { ReplyError } from "../reply.ts";
import { numberArgument, tableArgument, textArgument } from "./arguments.ts";
import { formatNumber, parseNumber } from "./numbers.ts";
import { redisLibrary } from "./redis-library.ts";
import { stringLibrary } from "./string-library.ts";
import { tableLibrary } from "./table-library.ts";
import { UnsupportedLuaError } from "./unsupported.ts";
import {
  errorAt,
  type Host,
  isTruthy,
  LuaError,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  toNumber,
  typeName,
} from "./values.ts";

const mathLibrary: Record<string, LuaValue> = {
  huge: Number.POSITIVE_INFINITY,
  pi: Math.PI,
  abs: (args, host) => Math.abs(numberArgument(args, 1, "abs", host)),
  ceil: (args, host) => Math.ceil(numberArgument(args, 1, "ceil", host)),
  floor: (args, host) => Math.floor(numberArgument(args, 1, "floor", host)),
  max: (args, host) => extreme("max", args, host),
  min: (args, host) => extreme("min", args, host),
} satisfies Record<string, LuaValue>;

const basicFunctions: Record<string, LuaFunction> = {
  tostring(args, host) {
    const [value] = args;
    if (args.length === 0) throw valueExpected("tostring", host);
    if (typeof value === "number") return formatNumber(value);
    if (value === undefined) return "nil";
    // Real addresses differ from run to run; a script that uses them is lost anyway.
    return typeof value === "object" || typeof value === "function"
      ? `${typeName(value)}: 0x0`
      : String(value);
  },
  tonumber(args, host) {
    if (args.length === 0) throw valueExpected("tonumber", host);
    if (args[1] === undefined || args[1] === 10) return toNumber(args[0]);
    const base = numberArgument(args, 2, "tonumber", host);
    return parseInBase(textArgument(args, 1, "tonumber", host), base);
  },
  type(args, host) {
    if (args.length === 0) throw valueExpected("type", host);
    return typeName(args[0]);
  },
  error(args, host) {
    const [value, level = 1] = args;
    throw typeof value === "string" && level !== 0
      ? errorAt(host.line, value)
      : new LuaError(value);
  },
  assert(args, host) {
    if (isTruthy(args[0])) return args;
    const message = args[1] ?? "assertion failed!";
    throw typeof message === "string" ? errorAt(host.line, message) : new LuaError(message);
  },
  pcall([callee, ...args], host) {
    try {
      if (typeof callee !== "function") {
        throw new LuaError(`attempt to call a ${typeName(callee)} value`);
      }
      return [true as LuaValue].concat(callee(args, host));
    } catch (error) {
      if (error instanceof LuaError) return [false, error.value];
      if (error instanceof ReplyError) return [false, error.message];
      throw error;
    }
  },
  unpack(args, host) {
    const table = tableArgument(args, 1, "unpack", host);
    const first = args[1] === undefined ? 1 : numberArgument(args, 2, "unpack", host);
    const last =
      args[2] === undefined ? table.list.length : numberArgument(args, 3, "unpack", host);
    if (last - first >= 8000) throw errorAt(host.line, "too many results to unpack");
    const values: LuaValue[] = [];
    for (let index = first; index <= last; index++) {
      values.push(table.get(index));
    }
    return values;
  },
};

const libraries: Record<string, Record<string, LuaValue>> = {
  redis: redisLibrary,
  math: mathLibrary,
  string: stringLibrary,
  table: tableLibrary,
};

const globals: Map<string, LuaValue> = new Map<string, LuaValue>([
  ...Object.entries(basicFunctions),
  ...Object.entries(libraries).map(([name, fields]): [string, LuaValue] => {
    const table = new LuaTable();
    for (const [field, value] of Object.entries(fields)) table.set(field, value);
    return [name, Object.assign(table, { readonly: true })];
  }),
]);

// What a script finds in a real Redis and not here.
const missing = new Set(
  `_G _VERSION bit cjson cmsgpack collectgarbage coroutine gcinfo getmetatable ipairs load loadstring
  newproxy next pairs rawequal rawget rawset select setmetatable struct xpcall
  redis.acl_check_cmd redis.breakpoint redis.debug redis.set_repl redis.setresp
  redis.REDIS_VERSION redis.REDIS_VERSION_NUM redis.REPL_ALL redis.REPL_AOF redis.REPL_NONE
  redis.REPL_REPLICA redis.REPL_SLAVE redis.register_function
  math.acos math.asin math.atan math.atan2 math.cos math.cosh math.deg math.exp math.fmod math.frexp
  math.ldexp math.log math.log10 math.mod math.modf math.pow math.rad math.random math.randomseed
  math.sin math.sinh math.sqrt math.tan math.tanh
  string.dump string.find string.gfind string.gmatch string.gsub string.match
  table.foreach table.foreachi table.getn table.maxn table.setn table.sort`.split(/\s+/),
);

/**
 * The value of a global name; undefined: a real Redis has none either.
 *
 * @throws UnsupportedLuaError when a real Redis has it.
 */
export function globalValue(name: string, line: number): LuaValue {
  if (missing.has(name)) throw new UnsupportedLuaError(name, line);
  return globals.get(name);
}

/** `library.field` when it is a function; undefined: something else, or nothing. */
export function libraryFunction(
  library: string,
  field: string,
  line: number,
): LuaFunction | undefined {
  if (missing.has(`${library}.${field}`)) {
    throw new UnsupportedLuaError(`${library}.${field}`, line);
  }
  const table = globals.get(library);
  const value = table instanceof LuaTable ? table.get(field) : undefined;
  return typeof value === "function" ? value : undefined;
}

/** The method of a string, e.g. `("x"):rep(3)`. */
export function stringMethod(name: string, line: number): LuaFunction | undefined {
  return libraryFunction("string", name, line);
}

function extreme(name: "min" | "max", args: LuaValue[], host: Host): number {
  let result = numberArgument(args, 1, name, host);
  for (let position = 2; position <= args.length; position++) {
    const number = numberArgument(args, position, name, host);
    if (name === "min" ? number < result : number > result) result = number;
  }
  return result;
}

function parseInBase(text: string, base: number): number | undefined {
  if (base === 16 && /^\s*0x/i.test(text)) return parseNumber(text);
  const digits = text.trim().toLowerCase();
  const value = Array.from(digits, (digit) => Number.parseInt(digit, 36));
  if (digits === "" || value.some((digit) => !(digit < base))) return undefined;
  return value.reduce((sum, digit) => sum * base + digit, 0);
}

function valueExpected(name: string, host: Host): LuaError {
  return errorAt(host.line, `bad argument #1 to '${name}' (value expected)`);
}
