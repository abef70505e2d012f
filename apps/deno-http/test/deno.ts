import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { program } from "../scripts/deno-program.mjs";

export { program };

type Environment = Readonly<Record<string, string>>;

function start(
  args: readonly string[],
  env: Environment,
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(program!, args, {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NO_COLOR: "1",
      DENO_NO_UPDATE_CHECK: "1",
      DENO_DIR: fileURLToPath(new URL("../.cache/deno", import.meta.url)),
      ...env,
    },
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
}

/** Runs Deno and gives how it ended. */
export async function runDeno(args: readonly string[], env: Environment = {}) {
  const child = start(args, env);
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return { code: code as number, stderr };
}

/** One instance of the service, in a process of its own, as `deno task start` runs it. */
export class Instance {
  readonly url: string;
  readonly #child: ReturnType<typeof start>;
  readonly #ended: Promise<unknown[]>;

  private constructor(child: ReturnType<typeof start>, ended: Promise<unknown[]>, port: string) {
    this.#child = child;
    this.#ended = ended;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(env: Environment): Promise<Instance> {
    const child = start(RUN, { PORT: "0", ...env });
    const ended = once(child, "exit");
    const complaints: string[] = [];
    child.stderr.on("data", (data) => complaints.push(String(data)));
    for await (const line of createInterface({ input: child.stdout })) {
      const [, port] = /^listening on port (\d+)$/.exec(line) ?? [];
      if (port) return new Instance(child, ended, port);
    }
    throw new Error(`the service did not start: ${complaints.join("")}`);
  }

  get(path: string): Promise<Response> {
    return fetch(this.url + path);
  }

  reserve(show: string, seats: unknown, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.url}/shows/${show}/reservations`, {
      method: "POST",
      body: JSON.stringify({ seats }),
      signal: signal ?? null,
    });
  }

  /** Sends a signal and gives the exit code; null where the signal ended the process. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<unknown> {
    this.#child.kill(signal);
    const [code] = await this.#ended;
    return code;
  }
}

/** The permissions that the task `start` gives, and no more. */
export const RUN = ["run", "--quiet", "--allow-net", "--allow-env", "--allow-sys", "src/main.ts"];
