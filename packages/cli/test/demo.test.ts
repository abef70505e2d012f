import { describe, expect, it } from "vitest";
import { run } from "../src/program.ts";
import { Interruption } from "../src/terminal.ts";
import { captureTerminal } from "./capture.ts";

const ESCAPE = "\u001b";
const SHORTEST = ["demo", "--seconds", "6"];

describe.concurrent("redlatch demo", () => {
  it("tells in plain lines what happens, and proves that nothing is lost", async () => {
    const terminal = captureTerminal();
    const startedMs = performance.now();
    expect(await run(SHORTEST, terminal)).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    const { text } = terminal.out;
    expect(terminal.err.text).toBe("");
    expect(text).not.toContain(ESCAPE);
    expect(text).toMatch(/^ +\d+\.\d s {2}node-2 is killed: 4 of 5 answer, quorum 3$/m);
    expect(text).toMatch(/^ +\d+\.\d s {2}node-4 hangs: 3 of 5 answer, quorum 3$/m);
    expect(text).toMatch(/node-4 goes on .*: 4 of 5 answer/);
    expect(text).toMatch(/node-2 is restarted.*: 5 of 5 answer/);
    expect(text).toMatch(/node-1 up worker-\d [\d,]+ ms \| node-2 killed \| node-3 up/);
    expect(text).toMatch(/worker-\d waited [\d,]+ ms, counted 0 -> 1$/m);
    const [, expected, actual] = /PROVED: (\d+) updates made, (\d+) counted/.exec(text)!;
    expect(Number(expected)).toBeGreaterThan(5);
    expect(actual).toBe(expected);
    expect(text).toMatch(/lost updates +0 +[1-9]/);
    expect(text).toMatch(/longest wait +[\d,]+ ms/);
    expect(text).not.toContain("still on");
  });

  it("redraws a table on a terminal that it fits into, and leaves the cursor visible", async () => {
    const terminal = captureTerminal({ columns: 80, rows: 24 });
    expect(await run(SHORTEST, terminal)).toBe(0);
    const { text } = terminal.out;
    expect(text).toContain(`${ESCAPE}[`);
    expect(text).toContain("With the lock");
    expect(text).toContain("Without the lock");
    expect(text).toContain("longest wait");
    expect(text).toContain("PROVED");
  });

  it.each([
    ["narrow", { columns: 50, rows: 40 }],
    ["low", { columns: 120, rows: 12 }],
    ["of unknown size", { columns: 0, rows: 0 }],
  ])("tells in lines on a terminal that is %s", async (_, size) => {
    const stop = new AbortController();
    const terminal = captureTerminal(size, stop.signal);
    const running = run(SHORTEST, terminal);
    setTimeout(() => stop.abort(new Interruption("SIGTERM")), 500);
    expect(await running).toBe(143);
    expect(terminal.out.text).toMatch(/counted 0 -> 1/);
    expect(terminal.out.text).not.toContain(`${ESCAPE}[2K`);
  });

  it("cleans up when it is interrupted", async () => {
    const stop = new AbortController();
    const terminal = captureTerminal(undefined, stop.signal);
    const running = run(SHORTEST, terminal);
    // One node is killed and one hangs by then.
    setTimeout(() => stop.abort(new Interruption("SIGINT")), 2_500);
    expect(await running).toBe(130);
    expect(terminal.out.text).toContain("node-4 hangs");
    expect(terminal.out.text).toContain("the lock is released, no key is left");
    expect(terminal.out.text).not.toContain("without the lock");
    expect(terminal.err.text).toBe("stopped by SIGINT\n");
  });
});
