import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { Sources } from "./build.ts";
import { type Finding, MOST_SEEDS, startCheck } from "./check.ts";
import { MUTATIONS } from "./mutations.ts";
import { seedsIn, tableOf } from "./table.ts";

const USAGE = `pnpm mutations [options]: switches the core's rules off one by one and looks for violations

  --write        write docs/mutation-table.md
  --fresh        look for the first seed that kills, not for the recorded one
  --seeds N      give up after N seeds (default ${MOST_SEEDS})
  --only WORDS   only mutations whose name has these words (or these, after a comma)
  --no-baseline  do not run the core as it is over all seeds`;

/** The command `pnpm mutations`. `root`: the repository, ending in a slash. */
export async function main(root: URL, args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      write: { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      seeds: { type: "string", default: String(MOST_SEEDS) },
      only: { type: "string", default: "" },
      "no-baseline": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seeds = Number(values.seeds);
  const startedMs = performance.now();
  const table = new URL("docs/mutation-table.md", root);
  const recorded = await readFile(table, "utf8").catch(() => "");
  const mutations = MUTATIONS.filter(({ name }) =>
    values.only.split(",").some((words) => name.includes(words)),
  );
  const check = await startCheck(
    new Sources(new URL("packages/", root)),
    mutations,
    values.fresh ? new Map() : seedsIn(recorded),
    seeds,
  );
  try {
    const findings = await Promise.all(
      check.findings.map(async (promise) => {
        const finding = await promise;
        console.log(lineOf(finding));
        return finding;
      }),
    );
    let ok = findings.every(({ kill, falseAlarm }) => kill && !falseAlarm);
    if (!values["no-baseline"]) {
      const { kill, acquisitions } = await check.baseline(seeds);
      const failed = kill && `violates ${kill.invariant} with seed ${kill.seed}: ${kill.message}`;
      const passed = `passes ${seeds} seeds, ${acquisitions} acquisitions`;
      console.log(`the core as it is ${failed ?? passed}`);
      ok &&= !kill;
    }
    console.log(`${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
    if (values.write && !values.only) await writeFile(table, tableOf(findings));
    return ok ? 0 : 1;
  } finally {
    await check.end();
  }
}

function lineOf({ mutation: { name }, kill, seeds, falseAlarm }: Finding): string {
  const death =
    kill && `dies with seed ${kill.seed} (${seeds} tried), ${kill.invariant}: ${kill.message}`;
  const alarm =
    falseAlarm &&
    `\n  ✗ the core as it is violates with seed ${falseAlarm.seed}, ${falseAlarm.invariant}: ${falseAlarm.message}`;
  return `${kill ? "✓" : "✗"} without ${name}: ${death ?? `SURVIVES ${seeds} seeds`}${alarm ?? ""}`;
}
