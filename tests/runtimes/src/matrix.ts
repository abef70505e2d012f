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

type Named = { readonly name: string };

/** What a full run reports. */
const ALL: readonly Named[] = [...conformanceCases, ...silenceCases, ...lockScenarios];

/** Over HTTP a command takes longer. */
const CONTEXTS: { readonly tcp: ScenarioContext; readonly http: ScenarioContext } = {
  tcp: { ttlMs: 1_500, cycles: 2_000 },
  http: { ttlMs: 3_000, cycles: 2_000 },
};

/** What the scenarios are told where they go over this driver. */
export const contextOf = (driver: string): ScenarioContext =>
  ["fetch", "upstash"].includes(driver) ? CONTEXTS.http : CONTEXTS.tcp;

/** Runs all cases and scenarios in one runtime, over each of the drivers. */
export function matrix(runtime: Runtime, drivers: readonly string[]): void {
  describe.skipIf(!runtime.program)(runtime.name, () => {
    describe.each(drivers)("%s", (driver) => {
      reports(startBoth, (servers) => playIn(runtime, driver, servers));
    });
  });
}

/** Plays in a process of its own. */
export async function playIn(
  runtime: Runtime,
  driver: string,
  servers: readonly ToldServer[],
  more: { readonly casesOnly?: boolean } = {},
): Promise<readonly Result[]> {
  const told = JSON.stringify({ driver, servers, context: contextOf(driver), ...more });
  const said = await runProgram(runtime, "matrix.mjs", told);
  return (JSON.parse(said) as Said).results;
}

/** Plays once, and makes a test of every case and scenario that has to be in the results. */
export function reports(
  start: () => Promise<Servers>,
  play: (servers: readonly ToldServer[]) => Promise<readonly Result[]>,
  expected: readonly Named[] = ALL,
): void {
  let servers: Servers | undefined;
  let results: readonly Result[];

  beforeAll(async () => {
    servers = await start();
    results = await play(servers.told);
  }, 180_000);
  afterAll(() => servers?.[Symbol.asyncDispose]());

  it.each(expected)("$name", ({ name }) => {
    const result = results.find((one) => one.name === name);
    expect(result, `${name} was not run`).toBeDefined();
    if (result?.fault) throw new Error(result.fault);
  });

  it("runs nothing else", () => {
    const names = (all: readonly Named[]) => all.map(({ name }) => name).sort();
    expect(names(results)).toEqual(names(expected));
  });
}
