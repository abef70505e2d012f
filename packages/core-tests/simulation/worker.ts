import { parentPort } from "node:worker_threads";
import { simulate } from "@redlatch/testing/simulator";

/** A run of consecutive seeds. */
export interface Batch {
  readonly from: number;
  readonly count: number;
}

/** What came of a batch. */
export interface BatchResult extends Batch {
  readonly acquisitions: number;
  readonly events: number;
  readonly faults: number;
  readonly failing: readonly { readonly seed: number; readonly violation: string }[];
}

/** Simulates a batch of seeds. */
export async function runBatch({ from, count }: Batch): Promise<BatchResult> {
  let acquisitions = 0;
  let events = 0;
  let faults = 0;
  const failing: { seed: number; violation: string }[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const result = await simulate({ seed });
    acquisitions += result.acquisitions;
    events += result.events;
    faults += result.faults.length;
    const [first] = result.violations;
    if (first) failing.push({ seed, violation: `${first.invariant}: ${first.message}` });
  }
  return { from, count, acquisitions, events, faults, failing };
}

// Thousands of errors are made and thrown away; a replay in the main thread shows where one came from.
Error.stackTraceLimit = 0;

parentPort?.on("message", async (batch: Batch) => {
  parentPort?.postMessage(await runBatch(batch));
});
