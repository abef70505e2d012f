import { once } from "node:events";
import { pollUntil, spawnScript } from "@redlatch/testkit";
import { expect, it } from "vitest";

const main = new URL("../src/main.ts", import.meta.url);

function start(...args: string[]) {
  const child = spawnScript(main, args);
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    said.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said.stderr += chunk;
  });
  return { child, said, closed: once(child, "close") };
}

it("exits with 130 on Ctrl-C, after releasing the lock", async () => {
  const { child, said, closed } = start("demo");
  await pollUntil("the first turn", () => said.stdout.includes("counted 0 -> 1"), {
    timeoutMs: 30_000,
  });
  child.kill("SIGINT");
  expect(await closed).toEqual([130, null]);
  expect(said.stdout).toContain("the lock is released, no key is left");
  expect(said.stderr).toBe("stopped by SIGINT\n");
});

it("ends quietly when nobody reads its output any more", async () => {
  const { child, said, closed } = start("demo");
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect(await closed).toEqual([141, null]);
  expect(said.stderr).toBe("");
});

it("exits with 2 for wrong usage", async () => {
  const { said, closed } = start("demo", "--workers", "0");
  expect(await closed).toEqual([2, null]);
  expect(said.stderr).toMatch(/^error: option '--workers <count>' argument '0' is invalid.*\n$/);
});
