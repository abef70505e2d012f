import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isStale, markBuilt, sourceEntries } from "./build-state.mjs";
import { main, output, run } from "./command.mjs";
import { inRepository, root } from "./repository.mjs";
import { environmentWithTools, lockedVersion } from "./tools.mjs";

// `npm run demo`: installs and builds what the demo needs and is not there, then runs it.

// Dependencies first: each needs the packages before it.
const PACKAGES = ["core", "ioredis", "testing", "cli"];
const MAIN = inRepository("packages/cli/dist/main.js");
const INSTALLED_FROM = inRepository(".cache/demo-install");

// Without development dependencies: a dozen packages instead of the whole workspace's hundreds.
const ONLY_THE_DEMO = ["--filter-prod", "@redlatch/cli...", "--prod"];
const TURBO_BUILD = ["exec", "turbo", "run", "build", "--filter=@redlatch/cli"];

/** Whether the whole workspace is installed, as for work on it. */
const forDevelopers = () => existsSync(inRepository("node_modules/.bin/tsup"));

function prepare(installed, stale) {
  const say = process.stderr.isTTY ? (text) => process.stderr.write(`\r\x1b[K${text}`) : () => {};
  say("installing what the demo needs …");
  const env = environmentWithTools(forDevelopers() ? [] : [lockedVersion("esbuild")]);
  if (!installed) install(env);
  say("building …");
  if (forDevelopers()) output("pnpm", TURBO_BUILD, { cwd: root, env });
  else for (const name of stale) bundle(name, env);
  stale.forEach(markBuilt);
  say("");
}

function install(env) {
  // Never on top of a developer's install: --prod would remove what is more.
  const selection = forDevelopers() ? [] : ONLY_THE_DEMO;
  const flags = ["--frozen-lockfile", "--config.confirmModulesPurge=false"];
  output("pnpm", ["install", ...flags, ...selection], { cwd: root, env });
  mkdirSync(dirname(INSTALLED_FROM), { recursive: true });
  writeFileSync(INSTALLED_FROM, lockfileHash());
}

/** Types and CommonJS are for users of the packages; the demo runs the ES modules. */
function bundle(name, env) {
  const flags = ["--bundle", "--splitting", "--packages=external", "--sourcemap"];
  const target = ["--format=esm", "--platform=node", "--target=es2022", "--outdir=dist"];
  const options = { cwd: inRepository("packages", name), env };
  output("esbuild", [...sourceEntries(name), ...flags, ...target, "--log-level=warning"], options);
}

function isInstalled() {
  if (!existsSync(inRepository("packages/cli/node_modules"))) return false;
  return existsSync(INSTALLED_FROM) && readFileSync(INSTALLED_FROM, "utf8") === lockfileHash();
}

function lockfileHash() {
  return createHash("sha256")
    .update(readFileSync(inRepository("pnpm-lock.yaml")))
    .digest("hex");
}

await main(() => {
  const stale = PACKAGES.filter(isStale);
  const installed = isInstalled();
  if (!installed || stale.length > 0) prepare(installed, stale);
  return run(process.execPath, [MAIN, "demo", ...process.argv.slice(2)]);
});
