import { describe, expect, it } from "vitest";
import { Sources } from "../../mutations/build.ts";
import { mutate } from "../../mutations/mutation.ts";
import { MUTATIONS } from "../../mutations/mutations.ts";

const sources = new Sources(new URL("../../../", import.meta.url));

describe("The core's source", () => {
  for (const mutation of MUTATIONS) {
    it(`has exactly one place for ${mutation.name}`, async () => {
      const source = await sources.core(mutation.file);
      expect(mutate(mutation, source)).not.toBe(source);
    });
  }
});

describe("A mutation", () => {
  const [mutation] = MUTATIONS as [(typeof MUTATIONS)[0]];

  it("says so when its anchor is gone", () => {
    expect(() => mutate(mutation, "")).toThrow(
      `mutation "${mutation.name}": its anchor occurs 0 times in packages/core/src/${mutation.file}`,
    );
  });

  it("says so when its anchor is not unique", () => {
    expect(() => mutate(mutation, mutation.anchor.repeat(2))).toThrow("occurs 2 times");
  });

  it("has a name of its own", () => {
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  });
});
