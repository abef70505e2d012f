import { buildPrograms, type Sources } from "./build.ts";
import { Crew } from "./crew.ts";
import type { Kill, Outcome } from "./job.ts";
import type { Mutation } from "./mutation.ts";

/** So many seeds a mutation may survive at most. */
export const MOST_SEEDS = 2_000;

/** So many seeds one job has. */
const JOB_SEEDS = 25;

/** The core itself, which must not violate anything. */
const AS_IT_IS = { core: undefined, invariants: undefined };

/** What became of one mutation. */
export interface Finding {
  readonly mutation: Mutation;
  /** The seed that killed it, if one did. */
  readonly kill: Kill | undefined;
  /** How many seeds were tried. */
  readonly seeds: number;
  /** A violation that is none of the mutation's doing, as the core as it is has one with the same seed. */
  readonly falseAlarm: Kill | undefined;
}

/** A check of mutations that is under way. */
export interface Check {
  /** One promise for each mutation. */
  readonly findings: readonly Promise<Finding>[];
  /** Whether the core as it is passes seeds 1 to `count`. */
  baseline(count: number): Promise<Outcome>;
  end(): Promise<void>;
}

/**
 * Looks for a seed that kills each mutation: first the recorded one, then 1 to `most`.
 *
 * @throws Error when an anchor is gone.
 */
export async function startCheck(
  sources: Sources,
  mutations: readonly Mutation[],
  recorded: ReadonlyMap<string, number>,
  most: number = MOST_SEEDS,
): Promise<Check> {
  const programs = await buildPrograms(sources, mutations);
  const crew = new Crew(programs.worker);
  const findings = mutations.map(async (mutation, index): Promise<Finding> => {
    const first = recorded.get(mutation.name);
    const jobs = [...(first === undefined ? [] : [[first]]), ...jobsOf(most)];
    const hunted = await hunt(crew, programs.cores[index], mutation.violates, jobs);
    return { mutation, ...hunted };
  });
  // Whoever started the check looks at them one after the other.
  for (const finding of findings) finding.catch(() => {});
  return {
    findings,
    baseline: (count) => baseline(crew, count),
    async end() {
      await crew.dismiss();
      await programs.remove();
    },
  };
}

async function hunt(
  crew: Crew,
  core: string | undefined,
  invariants: readonly string[],
  jobs: number[][],
): Promise<Omit<Finding, "mutation">> {
  let falseAlarm: Kill | undefined;
  let tried = 0;
  for (let seeds = jobs.shift(); seeds; seeds = jobs.shift()) {
    const { kill } = await crew.do({ core, invariants, seeds });
    if (!kill) {
      tried += seeds.length;
      continue;
    }
    const place = seeds.indexOf(kill.seed);
    tried += place + 1;
    const asItIs = await crew.do({ ...AS_IT_IS, seeds: [kill.seed] });
    if (!asItIs.kill) return { kill, seeds: tried, falseAlarm };
    falseAlarm ??= asItIs.kill;
    jobs.unshift(seeds.slice(place + 1));
  }
  return { kill: undefined, seeds: tried, falseAlarm };
}

async function baseline(crew: Crew, count: number): Promise<Outcome> {
  const jobs = jobsOf(count).map((seeds) => crew.do({ ...AS_IT_IS, seeds }));
  const outcomes = await Promise.all(jobs);
  return {
    kill: outcomes.find(({ kill }) => kill)?.kill,
    acquisitions: outcomes.reduce((sum, { acquisitions }) => sum + acquisitions, 0),
  };
}

/** Seeds 1 to `count`, in portions. */
function jobsOf(count: number): number[][] {
  return Array.from({ length: Math.ceil(count / JOB_SEEDS) }, (_, job) =>
    Array.from(
      { length: Math.min(JOB_SEEDS, count - job * JOB_SEEDS) },
      (_, index) => job * JOB_SEEDS + index + 1,
    ),
  );
}
