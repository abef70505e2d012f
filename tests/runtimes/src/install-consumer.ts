import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { consumer, here, repository } from "./folders.ts";
import { writeOwnDrivers } from "./own-drivers.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

/**
 * Vitest's global setup: builds the packages, packs them and unpacks what was packed into a project
 * beside the programs, which from then on find the packages as a user's programs do.
 */
export default function installConsumer(): void {
  rmSync(consumer, { recursive: true, force: true });
  const modules = join(consumer, "node_modules");
  mkdirSync(modules, { recursive: true });
  const packages = ourPackages();
  const only = packages.flatMap(({ name }) => ["--filter", name]);
  run(join(repository, "node_modules/.bin/turbo"), ["run", "build", ...only, ...QUIET]);
  run("pnpm", [...only, "pack", "--pack-destination", consumer]);
  for (const archive of readdirSync(consumer).filter((name) => name.endsWith(".tgz"))) {
    const name = archive.replace(/^redlatch-(.*)-\d+\.\d+\.\d+.*\.tgz$/, "$1");
    const target = join(modules, "@redlatch", name);
    mkdirSync(target, { recursive: true });
    run("tar", ["-xzf", join(consumer, archive), "--strip-components=1", "-C", target]);
    const { dependencies = {} } = manifestOf(target);
    linkAll(Object.keys(dependencies), join(repository, "packages", name), modules);
  }
  linkAll(DRIVERS, here, modules);
  cpSync(join(here, "programs"), consumer, { recursive: true });
  writeFileSync(
    join(consumer, "package.json"),
    JSON.stringify({ name: "consumer", type: "module" }),
  );
  writeOwnDrivers(join(consumer, "own-driver"));
}

const QUIET = ["--output-logs=errors-only", "--no-update-notifier"];

/** What users install beside our packages. */
const DRIVERS = ["@types/bun", "@upstash/redis", "@valkey/valkey-glide", "ioredis", "redis"];

/** The published packages that the matrix is about: what this package depends on. */
function ourPackages(): Manifest[] {
  const names = Object.keys(manifestOf(here).devDependencies ?? {});
  return names
    .filter((name) => name.startsWith("@redlatch/"))
    .map((name) => manifestOf(join(here, "node_modules", name)))
    .filter((manifest) => !manifest.private);
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Links packages of others, as they are installed for `from`. */
function linkAll(names: readonly string[], from: string, modules: string): void {
  for (const name of names.filter((name) => !name.startsWith("@redlatch/"))) {
    const link = join(modules, name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(from, "node_modules", name)), link, "dir");
  }
}

function run(program: string, args: readonly string[]): void {
  const env = { ...process.env, DO_NOT_TRACK: "1", TURBO_TELEMETRY_DISABLED: "1" };
  try {
    execFileSync(program, args, { cwd: repository, env, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
