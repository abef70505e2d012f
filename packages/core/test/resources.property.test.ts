import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resourcesOf } from "../src/resources.ts";
import { check, isShowable } from "./seed.ts";

const name = fc.string({ minLength: 1, unit: "binary" });
const names = fc.array(name, { minLength: 1, maxLength: 30 });

describe("the resources of a lock", () => {
  it("are the same for every order and repetition of the same names", () => {
    check(
      fc.property(
        names.chain((all) =>
          fc.tuple(
            fc.constant(all),
            fc.shuffledSubarray([...all, ...all], { minLength: 2 * all.length }),
          ),
        ),
        ([all, again]) => {
          expect(resourcesOf(again)).toEqual(resourcesOf(all));
        },
      ),
    );
  });

  it("are the names given, each once, in the order of their code units", () => {
    check(
      fc.property(names, (all) => {
        const resources = resourcesOf(all);
        expect(new Set(resources)).toEqual(new Set(all));
        for (const [index, resource] of resources.entries()) {
          if (index > 0) expect((resources[index - 1] as string) < resource).toBe(true);
        }
        expect(resourcesOf(resources)).toEqual(resources);
      }),
    );
  });

  it("are a name by itself as they are in an array", () => {
    check(
      fc.property(name, (one) => {
        expect(resourcesOf(one)).toEqual(resourcesOf([one]));
      }),
    );
  });

  it("are refused by a TypeError, whatever else is given for them or among them", () => {
    const noName = fc
      .anything()
      .filter((value) => typeof value !== "string" && !Array.isArray(value) && isShowable(value));
    check(
      fc.property(noName, names, fc.nat(), (value, others, at) => {
        const among = others.toSpliced(at % (others.length + 1), 0, value as string);
        for (const given of [value, [value], among]) {
          expect(() => resourcesOf(given as string[])).toThrow(
            expect.objectContaining({
              constructor: TypeError,
              message: expect.stringMatching(/^a resource must be a non-empty string, got /),
            }),
          );
        }
      }),
    );
  });

  it("are refused in words also where what is given cannot be shown", () => {
    const given = { toString: false } as unknown as string;
    expect(() => resourcesOf(given)).toThrow(/^a resource must be a non-empty string, got /);
  });
});
