import { hashCommands } from "./commands/hashes.ts";
import { keyCommands } from "./commands/keys.ts";
import { scriptCommands } from "./commands/scripts.ts";
import { serverCommands } from "./commands/server.ts";
import { sortedSetCommands } from "./commands/sorted-sets.ts";
import { stringCommands } from "./commands/strings.ts";
import type { Reply } from "./reply.ts";
import type { Server } from "./server.ts";

/** A command of the node. */
export interface Command {
  /** Lower case, as in error messages. */
  readonly name: string;
  /** How many words with the name; negative: at least so many. As in COMMAND INFO. */
  readonly arity: number;
  readonly notInScripts?: boolean;
  /** Executes it; `args` begin with the name. Throws the error reply. */
  run(server: Server, args: readonly string[]): Reply;
}

const commands = new Map<string, Command>(
  [
    ...stringCommands,
    ...keyCommands,
    ...hashCommands,
    ...sortedSetCommands,
    ...scriptCommands,
    ...serverCommands,
  ].flatMap((command) => [
    [command.name, command],
    // Nearly all callers write a command in capitals: found without changing its case.
    [command.name.toUpperCase(), command],
  ]),
);

/** Finds a command whatever the case of its name. */
export function commandNamed(name: string): Command | undefined {
  return commands.get(name) ?? commands.get(name.toLowerCase());
}
