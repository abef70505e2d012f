import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { Failure, output } from "./command.mjs";
import { inRepository, readJson } from "./repository.mjs";

/**
 * The environment for everything that follows: the pinned pnpm is on PATH (turbo calls it by name), and
 * so is each package of `others` (`name@version`). What is not there comes through npx, in one call.
 */
export function environmentWithTools(others = []) {
  const environment = { ...process.env, DO_NOT_TRACK: "1", TURBO_TELEMETRY_DISABLED: "1" };
  // In production mode pnpm would leave out what builds and tests.
  delete environment.NODE_ENV;
  const { packageManager } = readJson(inRepository("package.json"));
  const pinned = packageManager.split("+")[0];
  const missing = [...(pnpmOnPath() === pinned ? [] : [pinned]), ...others];
  if (missing.length > 0) environment.PATH = pathThroughNpx(missing);
  return environment;
}

/** The version of a package that the lockfile knows, as `name@version`. */
export function lockedVersion(name) {
  const lockfile = readFileSync(inRepository("pnpm-lock.yaml"), "utf8");
  const versions = lockfile.match(new RegExp(`^ {2}${name}@[0-9.]+(?=:$)`, "m"));
  if (!versions) throw new Failure(`pnpm-lock.yaml knows no ${name}`);
  return versions[0].trim();
}

function pnpmOnPath() {
  try {
    // Outside of the repository: inside, another pnpm would download the pinned one and speak for it.
    // A corepack shim would ask before it downloads.
    const env = { ...process.env, COREPACK_ENABLE_DOWNLOAD_PROMPT: "0" };
    const options = { cwd: tmpdir(), env, timeout: 20_000 };
    return `pnpm@${output("pnpm", ["--version"], options).trim()}`;
  } catch {
    return undefined;
  }
}

function pathThroughNpx(packages) {
  const wanted = packages.map((name) => `--package=${name}`);
  const print = ["node", "-p", "process.env.PATH"];
  return output("npx", ["--yes", ...wanted, "--", ...print], { cwd: tmpdir() }).trim();
}
