import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Ends a server process even where this process cannot: after its crash or SIGKILL. */
export function watchProcess(pid: number): void {
  tell(`pid ${pid}`);
}

/** Must be called once the process has ended: its pid may soon belong to somebody else. */
export function unwatchProcess(pid: number): void {
  tell(`pid-ended ${pid}`);
}

/** Makes an empty folder that is removed at the latest when this process ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "redlatch-testkit-"));
  tell(`directory ${directory}`);
  return directory;
}

export async function removeTemporaryDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  tell(`directory-removed ${directory}`);
}

let watchdog: ChildProcess | undefined;

function tell(line: string): void {
  watchdog ??= startWatchdog();
  watchdog.stdin?.write(`${line}\n`);
}

function startWatchdog(): ChildProcess {
  // Detached: Ctrl-C in the terminal must not reach it before its work is done.
  const child = spawn(process.execPath, [fileURLToPath(new URL("watchdog.mjs", import.meta.url))], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: {},
  });
  child.unref();
  const pipe = child.stdin as typeof child.stdin & { unref?: () => void };
  pipe.unref?.();
  pipe.on("error", () => {}); // Without a watchdog the tests still run; stop() still cleans up.
  child.on("error", () => {});
  return child;
}
