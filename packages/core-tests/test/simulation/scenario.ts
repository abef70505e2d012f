import {
  type Fault,
  reportOf,
  type SimulatedClient,
  type SimulationOptions,
  type SimulationResult,
  simulate,
} from "@redlatch/testing/simulator";
import { expect } from "vitest";

/** How long a message takes in a scenario, in milliseconds, unless its plan says otherwise. */
const DELAY_MS = 1;
export const TTL_MS = 200;
export const NODE_TIMEOUT_MS = 20;

/** What one client of a scenario does. */
export type Part = (client: SimulatedClient) => Promise<unknown>;

/** A small world in which nothing happens by chance: five nodes, and one client per part. */
export function play(
  parts: readonly Part[],
  faults: readonly Fault[] = [],
  options: Partial<SimulationOptions> = {},
): Promise<SimulationResult> {
  return simulate({
    seed: 1,
    nodes: 5,
    clients: parts.length,
    faults,
    program: async (client) => {
      await parts[client.index]?.(client);
    },
    ...options,
    options: {
      ttlMs: TTL_MS,
      waitMs: 1_000,
      nodeTimeoutMs: NODE_TIMEOUT_MS,
      retryDelayMs: 10,
      retryJitter: 0,
      driftFactor: 0.01,
      ...options.options,
    },
    traits: {
      drift: "none",
      resources: ["a"],
      link: {
        leastDelayMs: DELAY_MS,
        typicalDelayMs: 0,
        ordered: false,
        honoursAbort: false,
        rejects: 0,
      },
      ...options.traits,
    },
  });
}

/** Plays it, and expects that no promise is broken. */
export async function expectKept(...args: Parameters<typeof play>): Promise<SimulationResult> {
  const result = await play(...args);
  if (result.violations.length > 0) expect.fail(reportOf(result));
  return result;
}

/** Lines of a history, as `who what …`, of one actor or of all. */
export function linesOf({ history }: SimulationResult, who?: string): string[] {
  return history
    .filter((entry) => !who || entry[1] === who)
    .map((entry) => entry.slice(1).join(" "));
}

/** When a line that matches happened first, in milliseconds of true time. */
export function timeOf({ history }: SimulationResult, pattern: RegExp): number {
  const entry = history.find(([, ...words]) => pattern.test(words.join(" ")));
  if (!entry) throw new Error(`nothing in the history matches ${pattern}`);
  return entry[0];
}
