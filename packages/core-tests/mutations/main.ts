import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { wholeNumber } from "../simulation/arguments.ts";
import { Sources } from "./build.ts";
import { type Finding, MOST_SEEDS, startCheck } from "./check.ts";
import type { Mutation } from "./mutation.ts";
import { MUTATIONS } from "./mutations.ts";
import { seedsIn, tableOf } from "./table.ts";

const USAGE = `pnpm mutations [options]: switches the core's rules off one by one and looks for violations

  --write        write docs/mutation-table.md
  --fresh        look for the first seed that kills, not for the recorded one
  --seeds N      give up after N seeds (default ${MOST_SEEDS})
  --only WORDS   only mutations whose name has these words (or these, after a comma)
  --no-baseline  do not run the core as it is over all seeds`;

/** What the command line asks for. */
interface Wish {
  readonly help: boolean;
  readonly writes: boolean;
  readonly isFresh: boolean;
  readonly seeds: number;
  readonly mutations: readonly Mutation[];
  readonly baseline: boolean;
}

/** Reads the command line. @throws TypeError where nothing, or not what was asked for, would be checked. */
function wishOf(args: readonly string[]): Wish {
  const { values } = parseArgs({
    // `pnpm mutations -- --fresh` passes the dashes on.
    args: args.filter((arg) => arg !== "--"),
    options: {
      write: { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      seeds: { type: "string" },
      only: { type: "string" },
      "no-baseline": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { only } = values;
  if (values.write && only !== undefined) {
    throw new TypeError("--write writes the whole table: it cannot be given with --only");
  }
  const mutations = MUTATIONS.filter(
    ({ name }) => only?.split(",").some((words) => name.includes(words)) ?? true,
  );
  if (mutations.length === 0) throw new TypeError(`no mutation has "${only}" in its name`);
  return {
    help: values.help,
    writes: values.write,
    isFresh: values.fresh,
    seeds: wholeNumber("--seeds", values.seeds, 1) ?? MOST_SEEDS,
    mutations,
    baseline: !values["no-baseline"],
  };
}

/**
 * The command `pnpm mutations`; gives the exit code: 1 where a mutation survives, 2 for a command line that is
 * none. `root`: the repository, ending in a slash.
 */
export async function main(root: URL, args: readonly string[]): Promise<number> {
  let wish: Wish;
  try {
    wish = wishOf(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (wish.help) {
    console.log(USAGE);
    return 0;
  }
  const { seeds } = wish;
  const startedMs = performance.now();
  const table = new URL("docs/mutation-table.md", root);
  const recorded = await readFile(table, "utf8").catch(() => "");
  const check = await startCheck(
    new Sources(new URL("packages/", root)),
    wish.mutations,
    wish.isFresh ? new Map() : seedsIn(recorded),
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
    if (wish.baseline) {
      const { kill, acquisitions } = await check.baseline(seeds);
      const failed = kill && `violates ${kill.invariant} with seed ${kill.seed}: ${kill.message}`;
      const passed = `passes ${seeds} seeds, ${acquisitions} acquisitions`;
      console.log(`the core as it is ${failed ?? passed}`);
      ok &&= !kill;
    }
    console.log(`${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
    if (wish.writes) await writeFile(table, tableOf(findings));
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
