import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { consumer } from "./folders.ts";
import type { Runtime } from "./runtimes.ts";

/** How one case or scenario ended. */
export interface Result {
  readonly name: string;
  readonly tookMs: number;
  /** What it rejected with, where it did. */
  readonly fault?: string;
}

/** What a program of the matrix says. */
export interface Said {
  readonly versions: Record<string, string>;
  readonly results: readonly Result[];
}

const WITHIN_MS = 120_000;

/** Starts a program of the consumer. */
export function startProgram(
  { name, program, args }: Runtime,
  ...more: readonly string[]
): ChildProcessWithoutNullStreams {
  if (!program) throw new Error(`there is no ${name} for this machine`);
  const env = {
    ...process.env,
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
    DENO_DIR: join(consumer, ".deno"),
  };
  const options = { cwd: consumer, env, timeout: WITHIN_MS, killSignal: "SIGKILL" } as const;
  return spawn(program, [...args, ...more], options);
}

/** Runs a program of the consumer and gives what it printed; throws with all it said where it fails. */
export async function runProgram(runtime: Runtime, ...more: readonly string[]): Promise<string> {
  const child = startProgram(runtime, ...more);
  child.stdin.end();
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  if (code === 0) return stdout;
  const program = `${runtime.name} ${more[0]}`;
  throw new Error(`${program} ended with ${code ?? signal}:\n${stdout}\n${stderr}`);
}
