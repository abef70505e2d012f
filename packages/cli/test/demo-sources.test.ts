import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";

// `npm run demo` in a fresh clone bundles the packages by itself, without tsup and its configuration.
const { sourceEntries } = await import(
  new URL("../../../scripts/build-state.mjs", import.meta.url).href
);

describe("what `npm run demo` bundles in a fresh clone", () => {
  it.each(["core", "ioredis", "testing", "cli"])("is there, for each module of %s", (name) => {
    const entries: string[] = sourceEntries(name);
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries) {
      const [module, source] = entry.split("=") as [string, string];
      const inPackage = (path: string) => new URL(`../../${name}/${path}`, import.meta.url);
      expect(existsSync(inPackage(source)), source).toBe(true);
      expect(source).toMatch(new RegExp(`^src/${module}(/index)?\\.ts$`));
    }
  });
});
