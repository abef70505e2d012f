import { expect, it } from "vitest";
import { readConfig } from "../src/config.ts";

it("a Worker that is given nothing is told of everything that is missing at once", () => {
  for (const name of ["UPSTASH_URLS", "UPSTASH_TOKENS", "TARGET_URL"]) {
    expect(() => readConfig({})).toThrow(`${name} is missing`);
  }
});
