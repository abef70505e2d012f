import {
  conformanceCases,
  lockScenarios,
  type ScenarioContext,
  silenceCases,
} from "@redlatch/testing/conformance";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Result, runProgram, type Said } from "./run-program.ts";
import type { Runtime } from "./runtimes.ts";
import { type Servers, startBoth, type ToldServer } from "./servers.ts";

/** Every name that a full run reports. */
export const NAMES: readonly string[] = [
  ...conformanceCases,
  ...silenceCases,
  ...lockScenarios,
].map(({ name }) => name);

/** Over HTTP a command takes longer, and a cycle of acquire and release is six of them. */
const CONTEXTS: { readonly tcp: ScenarioContext; readonly http: ScenarioContext } = {
  tcp: { ttlMs: 1_500, cycles: 2_000 },
  http: { ttlMs: 3_000, cycles: 500 },
};

/** What the scenarios are told where they go over this driver. */
export const contextOf = (driver: string): ScenarioContext =>
  ["fetch", "upstash"].includes(driver) ? CONTEXTS.http : CONTEXTS.tcp;

/** Runs the whole matrix of drivers in one runtime, each of them on servers of its own. */
export function matrix(runtime: Runtime, drivers: readonly string[]): void {
  describe.skipIf(!runtime.program)(runtime.name, () => {
    describe.each(drivers)("%s", (driver) => {
      reports(async (servers) => {
        const told = JSON.stringify({ driver, servers, context: contextOf(driver) });
        const said = await runProgram(runtime, "matrix.mjs", told);
        return (JSON.parse(said) as Said).results;
      });
    });
  });
}

/** Plays once, and makes a test of every case and scenario that has to be in the results. */
export function reports(
  play: (servers: readonly ToldServer[]) => Promise<readonly Result[]>,
): void {
  let servers: Servers | undefined;
  let results: readonly Result[];

  beforeAll(async () => {
    servers = await startBoth();
    results = await play(servers.told);
  }, 180_000);
  afterAll(() => servers?.[Symbol.asyncDispose]());

  it.each(NAMES)("%s", (name) => {
    const result = results.find((one) => one.name === name);
    expect(result, `${name} was not run`).toBeDefined();
    if (result?.fault) throw new Error(result.fault);
  });

  it("runs nothing else", () => {
    expect(results.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
  });
}
