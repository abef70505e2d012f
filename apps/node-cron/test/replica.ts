import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { pollUntil } from "@redlatch/testkit";

/** What `pnpm start` runs; see apps/build.ts. */
const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

type Environment = Readonly<Record<string, string>>;

function start(env: Environment): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [MAIN], {
    stdio: ["ignore", "pipe", "pipe"],
    // Not the vitest worker's own settings, which change how a plain Node process behaves.
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
}

/** Runs the program and gives how it ended. */
export async function runToEnd(env: Environment): Promise<{ code: unknown; stderr: string }> {
  const child = start(env);
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return { code, stderr };
}

/** The program in a process of its own. */
export class Replica {
  readonly name: string;
  readonly #child: ReturnType<typeof start>;
  readonly #events: string[] = [];
  readonly #ended: Promise<unknown[]>;

  constructor(name: string, env: Environment) {
    this.name = name;
    this.#child = start({ ...env, REPLICA: name });
    this.#child.stderr.pipe(process.stderr);
    this.#ended = once(this.#child, "exit");
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.#events.push(JSON.parse(line).event);
    });
  }

  async said(event: string): Promise<void> {
    const told = () => this.#events.includes(event);
    await pollUntil(`${this.name} says ${event}`, told, { timeoutMs: 30_000, intervalMs: 20 });
  }

  /** Sends a signal and gives the exit code; null where the signal ended the process. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<unknown> {
    this.#child.kill(signal);
    const [code] = await this.#ended;
    return code;
  }
}
