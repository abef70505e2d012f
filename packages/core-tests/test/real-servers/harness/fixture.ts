import { once } from "node:events";
import { createInterface } from "node:readline";
import { pollUntil, type ScriptProcess, spawnScript } from "@redlatch/testkit";
import { onTestFinished } from "vitest";
import type { Told } from "../fixtures/connect.ts";
import type { Harness } from "./harness.ts";
import type { Testbed } from "./testbed.ts";

/** A new process translates the sources that it imports: seconds, where others need the machine as well. */
const STARTED_WITHIN_MS = 60_000;

export interface RunningFixture {
  readonly child: ScriptProcess;
  /** What it said so far, one message per line. */
  readonly said: readonly Record<string, unknown>[];
  /** Resolves once it said so many things; rejects when it ended before, or said nothing for too long. */
  heard(count: number): Promise<unknown>;
  readonly exited: Promise<{
    readonly code: number | null;
    readonly said: readonly Record<string, unknown>[];
    /** All of its standard error: warnings and what ended it. */
    readonly complaints: string;
  }>;
}

/** Starts a process of its own, which connects to the testbed's servers; it ends with the test. */
export function runFixture(
  harness: Harness,
  bed: Testbed,
  name: string,
  more: Partial<Told>,
): RunningFixture {
  const urls = bed.servers.map(({ url }) => url);
  const told: Told = { module: harness.module.href, urls, ttlMs: bed.ttlMs, ...more };
  const file = new URL(`../fixtures/${name}.ts`, import.meta.url);
  const child = spawnScript(file, [JSON.stringify(told)]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const said: Record<string, unknown>[] = [];
  let complaints = "";
  createInterface({ input: child.stdout }).on("line", (line) => said.push(JSON.parse(line)));
  child.stderr.on("data", (data) => {
    complaints += data;
  });
  const exited = once(child, "close").then(([code]) => ({ code, said, complaints }));
  const heard = (count: number) =>
    pollUntil(
      `${name} said ${count} things`,
      () => said.length >= count || child.exitCode !== null,
      { timeoutMs: STARTED_WITHIN_MS },
    ).then(() => {
      if (said.length < count) throw new Error(`${name} ended early: ${complaints}`);
    });
  return { child, said, heard, exited };
}
