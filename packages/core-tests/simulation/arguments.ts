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

/**
 * Reads a whole number, if there is one.
 *
 * @throws TypeError for anything else: with a part of a seed, or with no seeds at all, a run would prove nothing.
 */
export function wholeNumber(
  name: string,
  text: string | undefined,
  least: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
  throw new TypeError(`${name} must be a whole number from ${least}, got ${text || "nothing"}`);
}

/** Reads the command line. @throws TypeError for an unknown option or a value that is none. */
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
  const whole = (name: "seeds" | "from" | "seed" | "workers", least: number) =>
    wholeNumber(`--${name}`, values[name], least);
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) {
    throw new TypeError(`--minutes must be a number above 0, got ${values.minutes}`);
  }
  return {
    seed: whole("seed", 0),
    from: whole("from", 0),
    seeds: whole("seeds", 1) ?? (minutes === undefined ? 2_000 : Number.MAX_SAFE_INTEGER),
    minutes,
    workers: whole("workers", 1) ?? availableParallelism(),
    stateFile: resolve(root, values.state ?? ".cache/simulation.json"),
  };
}
