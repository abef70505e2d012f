import { type Command, commandNamed } from "./command.ts";
import { Keyspace } from "./keyspace.ts";
import { LuaTable } from "./lua/values.ts";
import { type Reply, ReplyError, wrongArity } from "./reply.ts";
import { type CachedScript, runScript } from "./script.ts";

/** What a command works on: everything that one Redis process holds. */
export class Server {
  readonly keyspace: Keyspace = new Keyspace();
  /** The script cache, by SHA-1. */
  readonly scripts: Map<string, CachedScript> = new Map();
  /** Hands a message to the subscribers; gives their number. */
  readonly publish: (channel: string, message: string) => number;
  /** Wall-clock time of the running command in ms, with its fraction. */
  wallMs = 0;

  constructor(publish: (channel: string, message: string) => number) {
    this.publish = publish;
  }

  /** Executes one command at a time of its own. @throws ReplyError */
  execute(command: readonly string[], wallMs: number): Reply {
    this.wallMs = wallMs;
    this.keyspace.nowMs = Math.floor(wallMs);
    const known = commandNamed(command[0]!);
    if (!known) throw unknownCommand(command);
    if (!hasArity(known, command)) throw wrongArity(known.name);
    return known.run(this, command);
  }

  /** Runs a script over the arguments of EVAL or EVALSHA. @throws ReplyError */
  runScript(script: CachedScript, keys: string[], argv: string[]): Reply {
    return runScript(script, {
      keys: new LuaTable(keys),
      argv: new LuaTable(argv),
      line: 1,
      command: (command) => this.#executeInScript(command),
    });
  }

  #executeInScript(command: readonly string[]): Reply {
    const known = commandNamed(command[0]!);
    if (!known) throw new ReplyError("ERR Unknown Redis command called from script");
    if (!hasArity(known, command)) {
      throw new ReplyError("ERR Wrong number of args calling Redis command from script");
    }
    if (known.notInScripts) {
      throw new ReplyError("ERR This Redis command is not allowed from script");
    }
    return known.run(this, command);
  }
}

function hasArity({ arity }: Command, { length }: readonly string[]): boolean {
  return arity < 0 ? length >= -arity : length === arity;
}

function unknownCommand([name, ...args]: readonly string[]): ReplyError {
  let shown = "";
  for (const arg of args) {
    if (shown.length >= 128) break;
    shown += `'${arg.slice(0, 128 - shown.length)}' `;
  }
  const message = `ERR unknown command '${name!.slice(0, 128)}', with args beginning with: ${shown}`;
  return new ReplyError(message.replace(/[\r\n]/g, " "));
}
