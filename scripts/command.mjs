import { spawn, spawnSync } from "node:child_process";

/** Ends the script: the facts for a person, no stack. */
export class Failure extends Error {}

/** Runs a program with this terminal; answers its exit code (1 where a signal ended it). */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", ...options });
    // Ctrl-C reaches the child too, which may have to clean up: this process waits for its end.
    const wait = () => {};
    const passOn = () => child.kill("SIGTERM");
    process.on("SIGINT", wait).on("SIGTERM", passOn);
    child.on("error", reject);
    child.on("exit", (code) => {
      process.off("SIGINT", wait).off("SIGTERM", passOn);
      resolve(code ?? 1);
    });
  });
}

/** Runs a program quietly; throws with everything it said where it fails. */
export function output(program, args, options = {}) {
  const result = spawnSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
  if (result.error) throw result.error;
  if (result.status === 0) return result.stdout;
  const command = [program, ...args].join(" ");
  throw new Failure(
    `${command} failed (${result.status ?? result.signal}):\n${result.stdout}${result.stderr}`,
  );
}

/** Whether a program is there and runs. */
export function works(program, args) {
  const result = spawnSync(program, args, { stdio: "ignore" });
  return result.error === undefined && result.status === 0;
}

/** Runs a script's main function; a Failure becomes a plain message and exit code 1. */
export async function main(action) {
  try {
    process.exitCode = await action();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
