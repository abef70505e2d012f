import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { Sources } from "./build.ts";
import { type Finding, MOST_SEEDS, startCheck } from "./check.ts";
import { MUTATIONS } from "./mutations.ts";
import { seedsIn, tableOf } from "./table.ts";

const USAGE = `pnpm mutations [--write] [--fresh] [--only <words>] [--no-baseline]

  --write        write docs/mutation-table.md
  --fresh        look for the first seed that kills, not for the recorded one
  --only         only mutations whose name has these words (or these, after a comma)
  --no-baseline  do not run the core as it is over all seeds`;

/** The command `pnpm mutations`. `root`: the repository, ending in a slash. */
export async function main(root: URL, args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      write: { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      baseline: { type: "boolean", default: true },
      help: { type: "boolean", default: false },
    },
    allowNegative: true,
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
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
  );
  try {
    let ok = true;
    const findings: Finding[] = [];
    for (const promise of check.findings) {
      const finding = await promise;
      findings.push(finding);
      console.log(lineOf(finding));
      ok &&= finding.kill !== undefined && !finding.falseAlarm;
    }
    if (values.baseline) {
      const { kill, acquisitions } = await check.baseline(MOST_SEEDS);
      const failed = kill && `violates ${kill.invariant} with seed ${kill.seed}: ${kill.message}`;
      const passed = `passes ${MOST_SEEDS} seeds, ${acquisitions} acquisitions`;
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
