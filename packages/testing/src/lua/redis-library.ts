import { ReplyError } from "../reply.ts";
import { sha1Hex } from "../sha1.ts";
import { formatArgument } from "./numbers.ts";
import { replyToLua, tableWith } from "./replies.ts";
import { type Host, LuaError, type LuaTable, type LuaValue, toText } from "./values.ts";

/** The table `redis` of a script. */
export const redisLibrary: Record<string, LuaValue> = {
  LOG_DEBUG: 0,
  LOG_VERBOSE: 1,
  LOG_NOTICE: 2,
  LOG_WARNING: 3,
  call: (args, host) => callCommand(args, host),
  pcall(args, host) {
    try {
      return callCommand(args, host);
    } catch (error) {
      if (error instanceof ReplyError) return tableWith("err", error.message);
      throw error;
    }
  },
  error_reply: (args) => textReply("err", args),
  status_reply: (args) => textReply("ok", args),
  sha1hex(args) {
    if (args.length !== 1) throw raised("wrong number of arguments");
    return sha1Hex(toText(args[0]) ?? "");
  },
  log: () => [],
  replicate_commands: () => true,
} satisfies Record<string, LuaValue>;

function callCommand(args: LuaValue[], host: Host): LuaValue {
  if (args.length === 0) {
    throw new ReplyError("ERR Please specify at least one argument for this redis lib call");
  }
  for (let index = 0; index < args.length; index++) {
    const value = args[index];
    if (typeof value === "number") {
      args[index] = formatArgument(value);
    } else if (typeof value !== "string") {
      throw new ReplyError("ERR Lua redis lib command arguments must be strings or integers");
    }
  }
  return replyToLua(host.command(args as string[]));
}

function textReply(field: "ok" | "err", args: LuaValue[]): LuaTable {
  const [text] = args;
  if (args.length !== 1 || typeof text !== "string") {
    return tableWith("err", "ERR wrong number or type of arguments");
  }
  return tableWith(field, field === "err" ? errorText(text) : text);
}

/** Redis 7: a code of its own is kept, a single word gets ERR before it. */
function errorText(text: string): string {
  if (text.startsWith("-")) return text.slice(1);
  return text.includes(" ") ? text : `ERR ${text}`;
}

function raised(message: string): LuaError {
  return new LuaError(tableWith("err", `ERR ${message}`));
}
