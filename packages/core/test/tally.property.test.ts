import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lossOf, majorityOf, quorumOf, type Tally, verdictOf } from "../src/tally.ts";
import { check } from "./seed.ts";

type Outcome = "granted" | "denied" | "failed";

const outcome = fc.constantFrom<Outcome>("granted", "denied", "failed");
/** The votes of a full round; up to far more nodes than enumeration can reach. */
const votes = fc.array(outcome, { minLength: 1, maxLength: 101, size: "max" });
const reordered = votes.chain((all) =>
  fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
);

/** What is known after each vote, beginning with none. */
const talliesOf = (all: readonly Outcome[]): readonly Tally[] => {
  const tallies: Tally[] = [{ nodes: all.length, granted: 0, denied: 0, failed: 0 }];
  for (const vote of all) {
    const before = tallies.at(-1) as Tally;
    tallies.push({ ...before, [vote]: before[vote] + 1 });
  }
  return tallies;
};

const last = (all: readonly Outcome[]): Tally => talliesOf(all).at(-1) as Tally;

/** The first answer that is one, and the answers from there on. */
const decidedOf = <Answer>(all: readonly Outcome[], read: (tally: Tally) => Answer | undefined) => {
  const answers = talliesOf(all).map(read);
  return answers.slice(answers.findIndex((answer) => answer !== undefined));
};

const READINGS = [
  ["the verdict of a round", verdictOf],
  ["the reason of a loss", lossOf],
  ["the answer of a majority", majorityOf],
] as const;

describe.each(READINGS)("%s", (_, read) => {
  it("is the same for every order of the same votes, once all are in", () => {
    check(
      fc.property(reordered, ([all, others]) => {
        expect(read(last(others))).toBe(read(last(all)));
        expect(read(last(all))).toBeDefined();
      }),
    );
  });

  it("never changes by another vote", () => {
    check(
      fc.property(votes, (all) => {
        expect(new Set(decidedOf<unknown>(all, read)).size).toBe(1);
      }),
    );
  });

  it("is the same in every order at the moment it is decided", () => {
    check(
      fc.property(reordered, ([all, others]) => {
        expect(decidedOf<unknown>(others, read)[0]).toBe(decidedOf<unknown>(all, read)[0]);
      }),
    );
  });
});

describe("a round", () => {
  it("is won by a quorum of all nodes, and by no fewer", () => {
    check(
      fc.property(votes, (all) => {
        const granted = all.filter((vote) => vote === "granted").length;
        expect(verdictOf(last(all))).toBe(2 * granted > all.length ? "won" : "lost");
      }),
    );
  });

  it("is won by one of two attempts at most, whatever each node grants to only one of them", () => {
    check(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 101 }), (nodes) => {
        const mine = nodes.map((toMe): Outcome => (toMe ? "granted" : "denied"));
        const other = nodes.map((toMe): Outcome => (toMe ? "denied" : "granted"));
        const won = [mine, other].filter((all) => verdictOf(last(all)) === "won");
        expect(won.length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("is decided no later by a vote more that says the same", () => {
    check(
      fc.property(votes, fc.nat(), (all, at) => {
        const better = all.with(at % all.length, "granted");
        if (verdictOf(last(all)) === "won") expect(verdictOf(last(better))).toBe("won");
        const worse = all.with(at % all.length, "failed");
        if (verdictOf(last(all)) === "lost") expect(verdictOf(last(worse))).toBe("lost");
      }),
    );
  });

  it("takes no more than the quorum of the configured nodes", () => {
    check(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (nodes) => {
        const quorum = quorumOf(nodes);
        expect(2 * quorum).toBeGreaterThan(nodes);
        expect(2 * (quorum - 1)).toBeLessThanOrEqual(nodes);
      }),
    );
  });
});
