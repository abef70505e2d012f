import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pollUntil, processState, type ScriptProcess, spawnScript } from "../src/index.ts";

interface Abandoned {
  readonly pids: number[];
  readonly folders: string[];
}

const FIXTURE = new URL("fixtures/abandon-servers.ts", import.meta.url);

/** Runs a process that starts three servers and hangs the first; resolves once they run. */
async function abandon(ending: string): Promise<[ScriptProcess, Abandoned]> {
  const child = spawnScript(FIXTURE, [ending], { REDLATCH_SERVERS: "local" });
  const [line] = await once(child.stdout, "data");
  return [child, JSON.parse(String(line)) as Abandoned];
}

async function expectNothingLeft({ pids, folders }: Abandoned): Promise<void> {
  expect(pids).toHaveLength(3);
  expect(folders).toHaveLength(3);
  await pollUntil("the servers are gone", () => pids.every((pid) => processState(pid) === "gone"));
  await pollUntil("the folders are gone", () => !folders.some((folder) => existsSync(folder)));
}

describe("a process that ends without stop() leaves no server and no file behind", () => {
  it.each([
    { ending: "exit", code: 0 },
    { ending: "throw", code: 1 },
    { ending: "forget", code: 0 },
  ])("after $ending", async ({ ending, code }) => {
    const [child, abandoned] = await abandon(ending);
    const [exitCode] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
    expect(exitCode).toBe(code);
    await expectNothingLeft(abandoned);
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("after %s", async (signal) => {
    const [child, abandoned] = await abandon("wait");
    expect(abandoned.pids.map(processState)).toEqual(["stopped", "running", "running"]);
    expect(abandoned.folders.every((folder) => existsSync(folder))).toBe(true);
    child.kill(signal);
    await once(child, "exit");
    await expectNothingLeft(abandoned);
  });
});
