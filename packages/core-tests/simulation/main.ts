import { reportOf, shrink, simulate } from "@redlatch/testing/simulator";
import { USAGE, type Wish, wishOf } from "./arguments.ts";
import { runSeeds } from "./pool.ts";
import { readState, writeState } from "./state.ts";

const SECOND = 1_000;

/** Replays one seed: with a violation, the smallest plan that leads to it. Gives the exit code. */
async function replay(seed: number): Promise<number> {
  const result = await simulate({ seed });
  const isBroken = result.violations.length > 0;
  const shown = isBroken ? await shrink({ seed }, result) : result;
  console.log(reportOf(shown, { before: isBroken ? 200 : Infinity }));
  return isBroken ? 1 : 0;
}

async function runMany(wish: Wish): Promise<number> {
  const before = readState(wish.stateFile);
  const from = wish.from ?? before.next;
  const failing = [...before.failing];
  const startMs = performance.now();
  const endMs = startMs + (wish.minutes ?? Infinity) * 60 * SECOND;
  const total = { seeds: 0, acquisitions: 0, events: 0, faults: 0, failing: 0 };
  let toldMs = startMs;
  const rate = (count: number): string =>
    ((count / (performance.now() - startMs)) * SECOND).toFixed(1);
  await runSeeds(
    { from, count: wish.seeds, workers: wish.workers },
    () => performance.now() > endMs,
    ({ result, next }) => {
      total.seeds += result.count;
      total.acquisitions += result.acquisitions;
      total.events += result.events;
      total.faults += result.faults;
      total.failing += result.failing.length;
      for (const each of result.failing) {
        console.log(`seed ${each.seed} fails: ${each.violation}`);
        if (!failing.some(({ seed }) => seed === each.seed)) failing.push(each);
      }
      if (performance.now() - toldMs < 5 * SECOND) return;
      toldMs = performance.now();
      writeState(wish.stateFile, { next, failing });
      console.log(`${next}: ${rate(total.seeds)} seeds/s, ${total.failing} failing`);
    },
  );
  writeState(wish.stateFile, { next: from + total.seeds, failing });
  console.log(`${total.seeds} seeds from ${from}: ${total.failing} with violations`);
  console.log(
    `${total.acquisitions} acquisitions, ${total.faults} faults, ${total.events} events`,
    `in ${((performance.now() - startMs) / SECOND).toFixed(1)} s on ${wish.workers} threads:`,
    `${rate(total.seeds)} seeds/s, ${rate(total.acquisitions)} acquisitions/s`,
  );
  if (total.failing > 0) console.log(`see ${wish.stateFile}; replay with pnpm simulate --seed N`);
  return total.failing > 0 ? 1 : 0;
}

/** Runs what the command line asks for; gives the exit code. Files are relative to `root`. */
export async function main(root: string, args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    console.log(USAGE);
    return 0;
  }
  const wish = wishOf(root, args);
  return wish.seed === undefined ? runMany(wish) : replay(wish.seed);
}
