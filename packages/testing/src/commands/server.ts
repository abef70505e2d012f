import type { Command } from "../command.ts";
import { OK, StatusReply, syntaxError, wrongArity } from "../reply.ts";

const PONG = new StatusReply("PONG");

export const serverCommands: Command[] = [
  {
    name: "ping",
    arity: -1,
    run(_, args) {
      if (args.length > 2) throw wrongArity("ping");
      return args[1] ?? PONG;
    },
  },
  { name: "echo", arity: 2, run: (_, [, message]) => message! },
  {
    name: "time",
    arity: 1,
    run({ wallMs }) {
      const microseconds = Math.floor(wallMs * 1_000);
      return [Math.floor(microseconds / 1e6), microseconds % 1e6].map(String);
    },
  },
  { name: "flushall", arity: -1, run: flush },
  { name: "flushdb", arity: -1, run: flush },
  {
    name: "publish",
    arity: 3,
    run: (server, [, channel, message]) => server.publish(channel!, message!),
  },
];

function flush({ keyspace }: Parameters<Command["run"]>[0], args: readonly string[]): StatusReply {
  if (args.length > 2 || (args[1] !== undefined && !/^a?sync$/i.test(args[1]))) {
    throw syntaxError();
  }
  keyspace.clear();
  return OK;
}
