import type { Fault } from "./fault.ts";
import { type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";

/**
 * Finds a small plan that still breaks the same promise first: leaves out halves of the faults, then quarters
 * and so on, and then single ones. Resolves with the simulation of the smallest plan found.
 *
 * @param options - The options that gave `result`.
 * @param result - A simulation with at least one violation.
 * @param limit - How many simulations to spend.
 */
export async function shrink(
  options: SimulationOptions,
  result: SimulationResult,
  limit = 200,
): Promise<SimulationResult> {
  const invariant = result.violations[0]?.invariant;
  let smallest = result;
  let left = limit;
  const without = async (from: number, count: number): Promise<boolean> => {
    if (left-- <= 0) return false;
    const faults = smallest.faults.toSpliced(from, count);
    const tried = await simulate({ ...options, faults }).catch(() => undefined);
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

/** A plan as text, one fault per line, fit to be given to `simulate` again. */
export function planText(faults: readonly Fault[]): string {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === "number" ? Number(value.toPrecision(15)) : value;
  return faults.map((fault) => `  ${JSON.stringify(fault, rounded)},`).join("\n");
}
