import { describe, expect, it } from "vitest";
import { resourcesOf } from "../src/resources.ts";

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `r${index}`);

describe("the resources of a lock", () => {
  it("are sorted, so that equal sets are equal locks", () => {
    expect(resourcesOf(["b", "c", "a"])).toEqual(["a", "b", "c"]);
  });

  it("count once, however often they are named", () => {
    expect(resourcesOf(["b", "a", "b", "a", "b"])).toEqual(["a", "b"]);
  });

  it("may be a single one, without an array", () => {
    expect(resourcesOf("invoice:42")).toEqual(["invoice:42"]);
  });

  it("are a copy that nobody can change", () => {
    const mine = ["b", "a"];
    const resources = resourcesOf(mine);
    mine.push("c");
    expect(mine).toEqual(["b", "a", "c"]);
    expect(resources).toEqual(["a", "b"]);
    expect(Object.isFrozen(resources)).toBe(true);
  });

  it("may be 1,000", () => {
    expect(resourcesOf(many(1_000))).toHaveLength(1_000);
  });

  it("may not be 1,001: a RangeError says how many are allowed and how many came", () => {
    expect(() => resourcesOf(many(1_001))).toThrow(RangeError);
    expect(() => resourcesOf(many(1_001))).toThrow(/resources.*1.?000.*1.?001/);
  });

  it("may not be none", () => {
    expect(() => resourcesOf([])).toThrow(TypeError);
    expect(() => resourcesOf([])).toThrow(/resource.*at least one.*\[\]/);
  });

  it.each([
    ["an empty string", "", '""'],
    ["an empty string among others", ["a", ""], '""'],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["a number", 42, "42"],
    ["a number among others", ["a", 42], "42"],
    ["an object", {}, "object"],
    ["an array in the array", [["a"]], "a"],
    ["a hole", new Array(1), "undefined"],
  ])("may not be %s", (_, resources, shown) => {
    const check = () => resourcesOf(resources as never);
    expect(check).toThrow(TypeError);
    expect(check).toThrow(/resource must be a non-empty string/);
    expect(check).toThrow(shown);
  });
});
