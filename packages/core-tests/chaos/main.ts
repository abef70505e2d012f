import { parseArgs } from "node:util";
import { failuresOf, summaryOf } from "./report.ts";
import { runChaos } from "./run-chaos.ts";
import { chosenSeed } from "./seed.ts";

const USAGE = `pnpm chaos [options]: client processes compete on real servers while everything fails

  --minutes M    how long (default 1), in runs of a minute, each with a seed of its own
  --seed N       the first run's seed (also: SEED=N); the same seed gives the same plan of faults`;

const RUN_SECONDS = 60;

/** Runs what the command line asks for; gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    // `pnpm chaos -- --minutes 5` passes the dashes on.
    args: args.filter((arg) => arg !== "--"),
    options: { minutes: { type: "string" }, seed: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const minutes = Number(values.minutes ?? 1);
  if (!(minutes > 0)) throw new Error(`--minutes must be above 0, got ${values.minutes}`);
  const first = chosenSeed(values.seed);
  let failed = 0;
  for (let leftS = minutes * 60, seed = first; leftS >= 1; leftS -= RUN_SECONDS, seed++) {
    const report = await runChaos({ seed, seconds: Math.min(leftS, RUN_SECONDS) });
    const failures = failuresOf(report);
    console.log([summaryOf(report), ...failures.map((failure) => `✗ ${failure}`), ""].join("\n"));
    if (failures.length > 0) failed++;
  }
  return failed > 0 ? 1 : 0;
}
