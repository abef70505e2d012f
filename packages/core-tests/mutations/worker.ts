import { setImmediate } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { type SimulationOptions, simulate } from "@redlatch/testing/simulator";
import type { Job, Kill, Outcome } from "./job.ts";

/** Runs in a worker thread: simulates seeds with a build of the core, until one violates an invariant. */
async function run({ core, invariants, seeds }: Job): Promise<Outcome> {
  const build = core === undefined ? {} : await import(core);
  const { Redlock } = build as Pick<SimulationOptions, "Redlock">;
  let kill: Kill | undefined;
  let acquisitions = 0;
  for (const seed of seeds) {
    const result = await simulate({ seed, Redlock });
    acquisitions += result.acquisitions;
    // A simulation is microtasks from end to end, and what the core registers for finalization is let go of
    // between tasks only.
    await setImmediate();
    const violation = result.violations.find(
      ({ invariant }) => invariants?.includes(invariant) ?? true,
    );
    if (!violation) continue;
    kill = { seed, invariant: violation.invariant, message: violation.message };
    break;
  }
  return { kill, acquisitions };
}

parentPort?.on("message", async (job: Job) => {
  parentPort?.postMessage(await run(job));
});
