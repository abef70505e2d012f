import { planText } from "./shrink.ts";
import type { SimulationResult } from "./simulate.ts";
import { type TimelineOptions, timelineOf } from "./timeline.ts";

/** Tells of a broken promise: what it was, the plan that leads to it and how it came about. */
export function reportOf(result: SimulationResult, options: TimelineOptions = {}): string {
  const { seed, violations, faults } = result;
  const broken = violations.map(
    ({ invariant, message, atMs }) => `  ${atMs.toFixed(2)} ms ${invariant}: ${message}`,
  );
  return [
    `seed ${seed}: ${violations.length} violations`,
    ...broken.slice(0, 10),
    `faults: [`,
    planText(faults),
    `]`,
    timelineOf(result, options),
  ].join("\n");
}
