import type { Command } from "../command.ts";
import { parseInteger } from "../integer.ts";
import { OK, type Reply, ReplyError, wrongArity } from "../reply.ts";
import { prepareScript } from "../script.ts";
import type { Server } from "../server.ts";

export const scriptCommands: Command[] = [
  { name: "eval", arity: -3, notInScripts: true, run: evaluate },
  { name: "evalsha", arity: -3, notInScripts: true, run: evaluateCached },
  { name: "script", arity: -2, notInScripts: true, run: manageCache },
];

function evaluate(server: Server, args: readonly string[]): Reply {
  const { keys, argv } = scriptArguments(args);
  const script = prepareScript(args[1]!);
  server.scripts.set(script.sha, script);
  return server.runScript(script, keys, argv);
}

function evaluateCached(server: Server, args: readonly string[]): Reply {
  const { keys, argv } = scriptArguments(args);
  const sha = args[1]!;
  const script = server.scripts.get(sha) ?? server.scripts.get(sha.toLowerCase());
  if (!script) {
    throw new ReplyError("NOSCRIPT No matching script. Please use EVAL.");
  }
  return server.runScript(script, keys, argv);
}

function scriptArguments(args: readonly string[]): { keys: string[]; argv: string[] } {
  const count = parseInteger(args[2]!);
  if (count > args.length - 3) {
    throw new ReplyError("ERR Number of keys can't be greater than number of args");
  }
  if (count < 0) {
    throw new ReplyError("ERR Number of keys can't be negative");
  }
  return { keys: args.slice(3, 3 + count), argv: args.slice(3 + count) };
}

function manageCache(server: Server, [, name, ...args]: readonly string[]): Reply {
  switch (name!.toLowerCase()) {
    case "load": {
      if (args.length !== 1) throw wrongArity("script|load");
      const script = prepareScript(args[0]!);
      server.scripts.set(script.sha, script);
      return script.sha;
    }
    case "exists":
      if (args.length === 0) throw wrongArity("script|exists");
      return args.map((sha) => Number(server.scripts.has(sha.toLowerCase())));
    case "flush":
      if (args.length > 1 || (args[0] !== undefined && !/^a?sync$/i.test(args[0]))) {
        throw new ReplyError("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
      }
      server.scripts.clear();
      return OK;
    default:
      throw new ReplyError(`ERR unknown subcommand '${name!.slice(0, 128)}'. Try SCRIPT HELP.`);
  }
}
