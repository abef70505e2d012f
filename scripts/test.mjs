import { rmSync } from "node:fs";
import { Failure, main, run } from "./command.mjs";
import { ensureServer } from "./redis-server.mjs";
import { getServerVersions } from "./redis-versions.mjs";
import { inRepository, root } from "./repository.mjs";
import { reportPath } from "./test-report.mjs";
import { environmentWithTools } from "./tools.mjs";

// `npm test`: installs what is missing, then runs everything. Arguments go to vitest.
const vitestArguments = process.argv.slice(2);

let environment = process.env;

const pnpm = async (...args) => {
  const code = await run("pnpm", args, { cwd: root, env: environment });
  if (code !== 0) throw new Failure(`exit code ${code}`);
};

const REPORTERS = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportPath}`];

const stages = {
  async "package manager"() {
    environment = environmentWithTools();
  },
  async dependencies() {
    const reporter = process.stdout.isTTY ? [] : ["--reporter=append-only", "--silent"];
    await pnpm("install", "--frozen-lockfile", "--config.confirmModulesPurge=false", ...reporter);
  },
  async "real server"() {
    const kind = await ensureServer();
    console.log(`real servers: ${kind}`);
    // The decision is made; the tests need not ask for an engine again.
    environment = { ...environment, REDLATCH_SERVERS: kind };
  },
  async "servers of other versions"() {
    await getServerVersions();
  },
  async "build, types, packaging"() {
    const quiet = ["--output-logs=errors-only", "--no-update-notifier"];
    await pnpm("exec", "turbo", "run", "build", "types", "packaging", ...quiet);
  },
  async "format and lint"() {
    // By itself it colours every single character of a pipe.
    const colours = process.stdout.isTTY ? [] : ["--colors=off"];
    await pnpm("exec", "biome", "ci", ...colours);
  },
  async "unused code"() {
    await pnpm("exec", "knip");
  },
  async tests() {
    await pnpm("exec", "vitest", "run", ...REPORTERS, ...vitestArguments);
  },
};

await main(async () => {
  rmSync(inRepository(reportPath), { force: true });
  const times = [];
  for (const [name, stage] of Object.entries(stages)) {
    console.log(`\n── ${name}`);
    const start = performance.now();
    const failure = await stage().then(
      () => undefined,
      (error) => error,
    );
    times.push(`${name} ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    if (failure) {
      console.error(`\n✗ npm test failed at the stage "${name}" (${times.join(" · ")})`);
      throw failure;
    }
  }
  console.log(`\n✓ npm test passed (${times.join(" · ")})`);
  return 0;
});
