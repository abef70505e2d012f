import type { Fault } from "./fault.ts";
import { type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";

/**
 * Finds a small plan that still breaks the same promise first: leaves out halves of the faults, then quarters
 * and so on, and then single ones. Resolves with the simulation of the smallest plan found.
 *
 * @param options - The options that gave `result`. A function that gives them, called for each simulation, where
 * a section or program keeps a state of its own, which has to begin anew.
 * @param result - A simulation with at least one violation.
 * @param limit - How many simulations to spend.
 * @throws Error when the options do not give `result` again: nothing can be said about its plan.
 */
export async function shrink(
  options: SimulationOptions | (() => SimulationOptions),
  result: SimulationResult,
  limit = 200,
): Promise<SimulationResult> {
  const anew = typeof options === "function" ? options : () => options;
  const [first] = result.violations;
  const [again] = (await simulate({ ...anew(), faults: result.faults })).violations;
  if (again?.message !== first?.message || again?.atMs !== first?.atMs) {
    throw new Error(
      `seed ${result.seed} went another way this time: give a function of options that begins anew with any state of a section or program`,
    );
  }
  const invariant = first?.invariant;
  let smallest = result;
  let left = limit;
  const without = async (from: number, count: number): Promise<boolean> => {
    if (left-- <= 0) return false;
    const faults = smallest.faults.toSpliced(from, count);
    const tried = await simulate({ ...anew(), faults }).catch(() => undefined);
    if (tried?.violations[0]?.invariant !== invariant) return false;
    smallest = tried as SimulationResult;
    return true;
  };
  for (let size = Math.ceil(result.faults.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < smallest.faults.length; ) {
      if (!(await without(from, size))) from += size;
    }
  }
  return smallest;
}

/** A plan as text, one fault per line: given to `simulate` again, it leads to the same history. */
export const planText = (faults: readonly Fault[]): string =>
  faults.map((fault) => `  ${JSON.stringify(fault)},`).join("\n");
