import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wishOf } from "../../simulation/arguments.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../simulation/run.mjs", import.meta.url));

describe("pnpm simulate", () => {
  let directory: string;
  let state: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "redlatch-simulate-"));
    state = join(directory, "state.json");
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  it("runs seeds on several threads, says how fast, and goes on where it stopped", async () => {
    const args = ["--seeds", "5", "--workers", "2", "--state", state];
    const first = await run(process.execPath, [program, ...args, "--from", "0"]);
    expect(first.stdout).toMatch(/5 seeds from 0: 0 with violations/);
    expect(first.stdout).toMatch(/seeds\/s, \d+\.\d acquisitions\/s/);
    expect(JSON.parse(readFileSync(state, "utf8"))).toEqual({ next: 5, failing: [] });
    const second = await run(process.execPath, [program, ...args]);
    expect(second.stdout).toMatch(/5 seeds from 5/);
  });

  it("replays one seed with its timeline", async () => {
    const { stdout } = await run(process.execPath, [program, "--seed", "40"]);
    expect(stdout).toMatch(/^seed 40: 0 violations/);
    expect(stdout).toMatch(/● .*holds c\d-\d+ /);
  });
});

describe("its command line", () => {
  it.each([
    [["--seeds", "many"], /--seeds must be a number/],
    [["--sneeds", "5"], /Unknown option/],
    [["5"], /Unexpected argument/],
  ])("refuses %j", (args, message) => {
    expect(() => wishOf("/", args)).toThrow(message);
  });

  it("runs as many seeds as fit into the minutes, unless told how many", () => {
    expect(wishOf("/", ["--minutes", "1"]).seeds).toBe(Number.MAX_SAFE_INTEGER);
    expect(wishOf("/", ["--minutes", "1", "--seeds", "7"]).seeds).toBe(7);
    expect(wishOf("/", ["--", "--seed", "7"]).seed).toBe(7);
  });
});
