import { isRedlockError, type Vote } from "@redlatch/core";
import { Command, CommanderError } from "commander";
import { demoCommand } from "./commands/demo.ts";
import { Interruption, type Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";
import { version } from "./version.ts";

/** Wrong usage, as opposed to a command that failed. */
const USAGE_EXIT_CODE = 2;

/** Runs one command line and resolves with its exit code. Never rejects: errors are a line on stderr. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  const program = new Command("redlatch")
    .description("Distributed locks over a quorum of independent Redis nodes.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      // It quotes what it does not understand, and that may be an address with a password.
      writeErr: (text) => terminal.stderr.write(withoutCredentials(text)),
    })
    .exitOverride();
  const finish = (code: number): void => {
    exitCode = code;
  };
  // Commands take over the settings above only when they are made by their parent.
  demoCommand(program.command("demo"), terminal, finish);
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    return exitCodeOf(error, terminal);
  }
}

function exitCodeOf(error: unknown, terminal: Terminal): number {
  // Commander has told the user already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
  if (error instanceof Interruption) {
    // Whoever closed the pipe knows.
    if (error.signal !== "SIGPIPE") terminal.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
  terminal.stderr.write(`error: ${withoutCredentials(lineOf(error))}\n`);
  return error instanceof UsageError ? USAGE_EXIT_CODE : 1;
}

const reasonOf = (vote: Vote): readonly string[] =>
  vote.outcome === "failed" && vote.cause.cause instanceof Error ? [vote.cause.cause.message] : [];

const withoutCredentials = (text: string): string => text.replace(/\/\/[^\s'"]*@/g, "//***@");

function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // The core's text has each node's failure, but not what is behind it.
  const reasons = isRedlockError(error) ? error.votes.flatMap(reasonOf) : [];
  const unsaid = reasons.filter((reason) => !message.includes(reason));
  const text = unsaid.length === 0 ? message : `${message} (${unsaid.join("; ")})`;
  return text.replace(/\s*\n\s*/g, " ");
}
