import { type Chunk, compileScript } from "./lua/compile.ts";
import { luaToReply } from "./lua/replies.ts";
import { type Host, LuaError, LuaTable } from "./lua/values.ts";
import { type Reply, ReplyError } from "./reply.ts";
import { sha1Hex } from "./sha1.ts";

/** A script as a node's cache holds it. */
export interface CachedScript {
  readonly sha: string;
  readonly run: Chunk;
}

const COMPILED_MAX = 1_000;

// Shared by all nodes: a simulation makes thousands of them, each running the same few scripts.
const compiled = new Map<string, CachedScript>();

/** Compiles a script, or finds it compiled. */
export function prepareScript(text: string): CachedScript {
  const known = compiled.get(text);
  if (known) {
    return known;
  }
  const script: CachedScript = { sha: sha1Hex(text), run: compileScript(text) };
  if (compiled.size >= COMPILED_MAX) {
    compiled.clear();
  }
  compiled.set(text, script);
  return script;
}

/** Runs a script; an error gets the script's name as in Redis 7. */
export function runScript(script: CachedScript, host: Host): Reply {
  let reply: Reply;
  try {
    reply = luaToReply(script.run(host));
  } catch (error) {
    throw scriptError(error, script, host.line);
  }
  if (reply instanceof ReplyError) {
    throw reply;
  }
  return reply;
}

function scriptError(error: unknown, { sha }: CachedScript, line: number): unknown {
  const message = messageOf(error);
  const at = (error instanceof LuaError && error.line) || line;
  return message === undefined
    ? error
    : new ReplyError(`${message} script: ${sha}, on @user_script:${at}.`);
}

function messageOf(error: unknown): string | undefined {
  if (error instanceof ReplyError) return error.message;
  if (error instanceof RangeError) return `ERR stack overflow`;
  if (!(error instanceof LuaError)) return undefined;
  const { value } = error;
  const text = value instanceof LuaTable ? value.get("err") : undefined;
  return typeof text === "string" ? text : `ERR ${value === undefined ? "nil" : error.message}`;
}
