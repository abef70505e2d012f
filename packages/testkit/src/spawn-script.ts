import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { unwatchProcess, watchProcess } from "./watchdog.ts";

/** A process of its own; `stdout` and `stderr` are there to be read. */
export type ScriptProcess = ChildProcess & {
  readonly stdout: NonNullable<ChildProcess["stdout"]>;
  readonly stderr: NonNullable<ChildProcess["stderr"]>;
};

const HOOKS = JSON.stringify(new URL("typescript-loader.mjs", import.meta.url));
const REGISTER = `import { register } from "node:module"; register(${HOOKS});`;
const LOADER = `data:text/javascript,${encodeURIComponent(REGISTER)}`;

/**
 * Runs a TypeScript file as a Node process of its own, which can be stopped, killed or crash without
 * taking the tests along; imports of this repository's packages lead to their sources. It is ended with
 * this process at the latest.
 *
 * @example
 * ```ts
 * const holder = spawnScript(new URL("fixtures/hold-lock.ts", import.meta.url), [server.url]);
 * ```
 */
export function spawnScript(
  file: URL,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): ScriptProcess {
  const child = spawn(process.execPath, ["--import", LOADER, fileURLToPath(file), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    // Not the vitest worker's own settings, which change how a plain Node process behaves.
    env: { ...process.env, NODE_OPTIONS: "", ...env },
  });
  const { pid } = child;
  if (pid !== undefined) {
    watchProcess(pid);
    child.once("exit", () => unwatchProcess(pid));
  }
  return child;
}
