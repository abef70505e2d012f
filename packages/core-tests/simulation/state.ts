import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What one run leaves for the next. */
export interface RunState {
  /** All seeds below it have been run. */
  readonly next: number;
  /** Seeds with violations, and the first of each. */
  readonly failing: readonly { readonly seed: number; readonly violation: string }[];
}

/** @throws Error when the file is there and cannot be read: to begin anew would forget the failing seeds in it. */
export function readState(file: string): RunState {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return { next: 0, failing: [] };
    throw error;
  }
  try {
    const state = JSON.parse(text) as RunState;
    if (Number.isSafeInteger(state.next) && Array.isArray(state.failing)) return state;
  } catch {
    // Said below.
  }
  throw new Error(`${file} does not say how far the last run was: remove it, or name another one`);
}

export function writeState(file: string, state: RunState): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`);
}
