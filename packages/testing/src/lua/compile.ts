import luaparse from "luaparse";
import { ReplyError } from "../reply.ts";
import { Frame, RETURN } from "./frame.ts";
import { compileBody } from "./functions.ts";
import { type ChunkNotes, FunctionScope } from "./scope.ts";
import { UnsupportedLuaError } from "./unsupported.ts";
import { firstOf, type Host, type LuaValue } from "./values.ts";

/** A compiled script: runs and gives the first value it returns. */
export type Chunk = (host: Host) => LuaValue;

/**
 * Compiles a Lua script to closures, without generating code, so that it also runs where that is
 * forbidden (Cloudflare Workers).
 *
 * @throws ReplyError when the text is not Lua 5.1.
 * @throws UnsupportedLuaError when it uses what the memory node does not have.
 */
export function compileScript(text: string): Chunk {
  if (text.startsWith("#!")) {
    throw new UnsupportedLuaError("a shebang (#!lua)", 1);
  }
  const { body } = parse(text);
  const compile = (captured: Set<number>): Chunk => {
    const notes: ChunkNotes = { captured, declared: 0 };
    const scope = new FunctionScope(notes);
    const execute = compileBody(body, scope);
    return (host) => {
      const frame = new Frame(scope.size, [], host);
      return execute(frame) === RETURN ? firstOf(frame.result) : undefined;
    };
  };
  const captured = new Set<number>();
  const chunk = compile(captured);
  return captured.size === 0 ? chunk : compile(captured);
}

function parse(text: string): luaparse.Chunk {
  try {
    return luaparse.parse(text, {
      luaVersion: "5.1",
      encodingMode: "pseudo-latin1",
      locations: true,
      comments: false,
    });
  } catch (error) {
    const { line = 1, message } = error as { line?: number; message: string };
    const reason = message.replace(/^\[\d+:\d+\] /, "");
    throw new ReplyError(
      `ERR Error compiling script (new function): user_script:${line}: ${reason}`,
    );
  }
}
