import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "../src/folders.ts";
import { tested, testedOwnDrivers } from "../src/tested.ts";

/** The drivers as the table's head names them, in its order. */
const COLUMNS: Readonly<Record<string, string>> = {
  ioredis: "ioredis",
  "node-redis": "node-redis",
  Upstash: "upstash",
  "`fetch`": "fetch",
  "Bun's own": "bun",
  "Valkey GLIDE": "glide",
};

it("is documented what runs on what, in docs/choosing-an-adapter.md", () => {
  const text = readFileSync(join(repository, "docs/choosing-an-adapter.md"), "utf8");
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("| runtime "));
  const table = lines.slice(first, lines.indexOf("", first)).map((line) => {
    const [, ...cells] = line.split("|").map((cell) => cell.trim());
    return cells.slice(0, -1);
  });
  const [[, ...drivers], , ...rows] = table as [string[], string[], ...string[][]];
  expect(drivers).toEqual(Object.keys(COLUMNS));
  const said = rows.map(([runtime, ...cells]) => [
    runtime,
    drivers
      .filter((_, index) => cells[index] === "tested")
      .map((name) => COLUMNS[name])
      .sort(),
  ]);
  const own: Readonly<Record<string, string>> = testedOwnDrivers;
  const run = Object.entries(tested).map(([runtime, names]) => [
    runtime,
    [...names, ...(own[runtime] ? [own[runtime]] : [])].sort(),
  ]);
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(run));
});
