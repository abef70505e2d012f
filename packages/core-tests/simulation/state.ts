import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What one run leaves for the next. */
export interface RunState {
  /** All seeds below it have been run. */
  readonly next: number;
  /** Seeds with violations, and the first of each. */
  readonly failing: readonly { readonly seed: number; readonly violation: string }[];
}

export function readState(file: string): RunState {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as RunState;
  } catch {
    return { next: 0, failing: [] };
  }
}

export function writeState(file: string, state: RunState): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`);
}
