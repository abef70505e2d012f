import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pollUntil } from "./polling.ts";
import { processState } from "./process-state.ts";
import { findServerBinary, howToGetServer } from "./server-binary.mjs";
import {
  PortTakenError,
  type ProgramSettings,
  READY_LINE,
  type ServerProgram,
} from "./server-program.ts";
import { unwatchProcess, watchProcess } from "./watchdog.ts";

const READY_WITHIN_MS = 15_000;

/** Starts a `redis-server` process of this machine. */
export async function launchLocalProcess(settings: ProgramSettings): Promise<ServerProgram> {
  const binary = settings.program ?? findServerBinary();
  if (!binary) {
    throw new Error(`no redis-server and no valkey-server on PATH; to get one: ${howToGetServer}`);
  }
  const logPath = join(settings.dataDirectory, "server.log");
  const program = new LocalProcess(spawnServer(binary, settings, logPath));
  const readLog = () => readFileSync(logPath, "utf8");
  try {
    await pollUntil(
      `${settings.name} (${binary}) is ready`,
      () => !program.alive || READY_LINE.test(readLog()),
      { timeoutMs: READY_WITHIN_MS },
    );
  } catch (error) {
    await program.kill();
    throw error;
  }
  if (program.alive) return program;
  const log = readLog();
  const story = `${settings.name} (${binary}) ended at once on port ${settings.port}:\n${log}`;
  throw /Address already in use/i.test(log) ? new PortTakenError(story) : new Error(story);
}

function spawnServer(binary: string, settings: ProgramSettings, logPath: string): ChildProcess {
  const address = ["--bind", "127.0.0.1", "--port", String(settings.port)];
  const log = openSync(logPath, "w");
  try {
    // Standard output goes to a file, not to a pipe: a pipe would tie the server to this process.
    return spawn(binary, [...address, "--dir", settings.dataDirectory, ...settings.flags], {
      stdio: ["ignore", log, log],
      cwd: settings.dataDirectory,
    });
  } finally {
    closeSync(log);
  }
}

class LocalProcess implements ServerProgram {
  readonly #child: ChildProcess;
  #ended = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    const { pid } = child;
    const onEnd = () => {
      this.#ended = true;
      if (pid !== undefined) unwatchProcess(pid);
    };
    child.once("exit", onEnd);
    child.once("error", onEnd);
    if (pid !== undefined) watchProcess(pid);
    // A test that forgot stop() can still exit; the watchdog then ends the server.
    child.unref();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return !this.#ended;
  }

  async hang(): Promise<void> {
    await this.#signal("SIGSTOP", "stopped");
  }

  async resume(): Promise<void> {
    await this.#signal("SIGCONT", "running");
  }

  async kill(): Promise<void> {
    if (this.#ended) return;
    this.#child.ref();
    const end = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await end;
  }

  async #signal(signal: NodeJS.Signals, result: "stopped" | "running"): Promise<void> {
    const { pid } = this.#child;
    if (this.#ended || pid === undefined) throw new Error(`${signal} to a server that has ended`);
    this.#child.kill(signal);
    // A signal is delivered a moment later; a caller must find the server as it asked for.
    await pollUntil(`process ${pid} is ${result}`, () => processState(pid) === result, {
      intervalMs: 1,
    });
  }
}
