import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import * as scripts from "../src/scripts.ts";

const named = Object.entries(scripts as Record<string, unknown>).filter(
  (entry): entry is [string, scripts.Script] =>
    typeof (entry[1] as scripts.Script)?.lua === "string",
);

it("has scripts to check", () => {
  expect(named.length).toBeGreaterThanOrEqual(4);
});

it.each(named)("%s is called by the SHA-1 of its text", (_, { lua, sha }) => {
  expect(sha).toBe(createHash("sha1").update(lua).digest("hex"));
});

it.each(named)("%s touches no key that it does not declare", (_, { lua }) => {
  // A channel is no key.
  for (const [, key] of lua.matchAll(/redis\.p?call\(\s*'(?!PUBLISH)[A-Z]+',\s*([^,)]+)/g)) {
    expect(key).toMatch(/^(key|KEYS\[\d+\])$/);
  }
});
