import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** What the command line asks for. */
export interface Wish {
  /** Replay this one seed and show its timeline. */
  readonly seed: number | undefined;
  /** Where to begin; without it, where the last run stopped. */
  readonly from: number | undefined;
  readonly seeds: number;
  readonly minutes: number | undefined;
  readonly workers: number;
  /** Where progress and failing seeds are kept. */
  readonly stateFile: string;
}

export const USAGE: string = `pnpm simulate [options]: runs the lock in a simulated world, seed by seed

  --seeds N      how many seeds (default 2000)
  --minutes M    as many seeds as fit into M minutes
  --from N       the first seed (default: where the last run stopped)
  --seed N       replay one seed: smallest plan that fails, and its timeline
  --workers N    how many threads (default: one per core)
  --state FILE   where progress and failing seeds are kept (default .cache/simulation.json)`;

/** Reads the command line. @throws Error for an unknown option or a value that is no number. */
export function wishOf(root: string, args: readonly string[]): Wish {
  const { values } = parseArgs({
    // `pnpm simulate -- --seeds 5` passes the dashes on.
    args: args.filter((arg) => arg !== "--"),
    options: {
      seeds: { type: "string" },
      minutes: { type: "string" },
      from: { type: "string" },
      seed: { type: "string" },
      workers: { type: "string" },
      state: { type: "string" },
    },
  });
  const number = (name: "seeds" | "minutes" | "from" | "seed" | "workers"): number | undefined => {
    const text = values[name];
    if (text === undefined) return undefined;
    const value = Number(text);
    if (Number.isFinite(value) && value >= 0) return value;
    throw new Error(`--${name} must be a number from 0, got ${text}`);
  };
  const minutes = number("minutes");
  return {
    seed: number("seed"),
    from: number("from"),
    seeds: number("seeds") ?? (minutes === undefined ? 2_000 : Number.MAX_SAFE_INTEGER),
    minutes,
    workers: Math.max(1, number("workers") ?? availableParallelism()),
    stateFile: resolve(root, values.state ?? ".cache/simulation.json"),
  };
}
