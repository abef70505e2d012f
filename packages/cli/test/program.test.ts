import { describe, expect, it } from "vitest";
import { run } from "../src/program.ts";
import { captureTerminal } from "./capture.ts";

async function told(...args: string[]) {
  const terminal = captureTerminal();
  const exitCode = await run(args, terminal);
  return { exitCode, stdout: terminal.out.text, stderr: terminal.err.text };
}

describe("redlatch", () => {
  it("prints help and version", async () => {
    expect(await told("--help")).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await told("--help")).stdout).toContain("demo [options]");
    expect((await told("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    const { exitCode, stdout } = await told("demo", "--help");
    expect(exitCode).toBe(0);
    for (const word of ["--nodes <urls>", "one process", "not touched", "130 after Ctrl-C"]) {
      expect(stdout).toContain(word);
    }
  });

  it("suggests what may have been meant", async () => {
    expect(await told("dmo")).toMatchObject({ exitCode: 2, stdout: "" });
    expect((await told("dmo")).stderr).toContain("(Did you mean demo?)");
    expect((await told("demo", "--worker", "3")).stderr).toContain("(Did you mean --workers?)");
  });

  it.each([
    ["--workers", "1"],
    ["--workers", "51"],
    ["--workers", "four"],
    ["--seconds", "5"],
    ["--seconds", "7.5"],
    ["--seconds", "-8"],
    ["--seconds", "1e3"],
  ])("names the option and the value it refuses: %s %s", async (option, value) => {
    const { exitCode, stdout, stderr } = await told("demo", option, value);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(option);
    expect(stderr).toContain(`'${value}'`);
    expect(stderr).toContain("whole number from");
  });

  it.each([
    ["demo", "--nodes", "http://user:s3cret@host"],
    ["demo", "redis://user:s3cret@host"],
    ["demo", "--node=redis://user:s3cret@host"],
    ["redis://user:s3cret@host"],
  ])("shows no password that it does not understand: %s %s %s", async (...args) => {
    const { exitCode, stdout, stderr } = await told(...args.filter(Boolean));
    expect(exitCode).toBe(2);
    expect(stdout + stderr).not.toContain("s3cret");
  });

  it("says in one line which nodes cannot be reached, and why", async () => {
    const nodes = "redis://:s3cret@127.0.0.1:1,redis://:s3cret@127.0.0.1:2";
    const { exitCode, stdout, stderr } = await told("demo", "--nodes", nodes);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: no quorum for .*: \d of 2 nodes answered, 2 needed.*\n$/);
    expect(stderr).toContain("ECONNREFUSED 127.0.0.1:1");
    expect(stderr).not.toMatch(/s3cret|\n\s+at /);
  });

  it("refuses the same server twice", async () => {
    const nodes = "redis://127.0.0.1:1,redis://127.0.0.1:1/0";
    const { exitCode, stderr } = await told("demo", "--nodes", nodes);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("two nodes have the same name (127.0.0.1:1)");
  });
});
