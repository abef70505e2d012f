import type { Redlock } from "@redlatch/core";
import type { Section } from "./race.ts";

/** Lets one worker in at a time, by the lock. Every worker has a Redlock of its own. */
export function lockedSection(
  redlockOf: (worker: string) => Redlock,
  resource: string,
  ttlMs: number,
): Section {
  return (worker, work, signal) => {
    const options = { ttlMs, owner: worker, waitMs: Infinity, retryDelayMs: 20, signal };
    return redlockOf(worker).using(resource, options, work);
  };
}

/** Lets everybody in at any time. */
export const openSection: Section = (_worker, work) => work({ assertHeld() {} });
