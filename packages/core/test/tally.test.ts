import { describe, expect, it } from "vitest";
import {
  completeOf,
  lossOf,
  majorityOf,
  needsMore,
  quorumOf,
  type Tally,
  verdictOf,
} from "../src/tally.ts";

type Outcome = "granted" | "denied" | "failed";
const OUTCOMES: readonly Outcome[] = ["granted", "denied", "failed"];

/** Every tally that N nodes can come to, with votes still out or not. */
function* talliesOf(nodes: number): Generator<Tally & { readonly pending: number }> {
  for (let granted = 0; granted <= nodes; granted++) {
    for (let denied = 0; granted + denied <= nodes; denied++) {
      for (let failed = 0; granted + denied + failed <= nodes; failed++) {
        yield { nodes, granted, denied, failed, pending: nodes - granted - denied - failed };
      }
    }
  }
}

/** Every full tally that `tally` can still become. */
function* endingsOf(tally: Tally): Generator<Tally> {
  const pending = tally.nodes - tally.granted - tally.denied - tally.failed;
  if (pending === 0) yield tally;
  else for (const outcome of OUTCOMES) yield* endingsOf(tallied(tally, outcome));
}

/** The tally with one more vote. */
function tallied(tally: Tally, outcome: Outcome): Tally {
  return { ...tally, [outcome]: tally[outcome] + 1 };
}

const anyEnding = (tally: Tally, holds: (ending: Tally) => boolean): boolean =>
  [...endingsOf(tally)].some(holds);

const empty = (nodes: number): Tally => ({ nodes, granted: 0, denied: 0, failed: 0 });

describe("a quorum", () => {
  it("is more than half of the configured nodes, and not one more than needed", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map(quorumOf)).toEqual([1, 2, 2, 3, 3, 4, 4]);
  });

  it("meets every other quorum", () => {
    for (let nodes = 1; nodes <= 100; nodes++) expect(2 * quorumOf(nodes)).toBeGreaterThan(nodes);
  });
});

describe.each([1, 2, 3, 4, 5, 6, 7])("with %i nodes", (nodes) => {
  const quorum = Math.floor(nodes / 2) + 1;

  it("decides as soon as, and not before, no vote still out could change the verdict", () => {
    for (const tally of talliesOf(nodes)) {
      const canWin = anyEnding(tally, ({ granted }) => granted >= quorum);
      const canLose = anyEnding(tally, ({ granted }) => granted < quorum);
      const expected = canWin && canLose ? undefined : canWin ? "won" : "lost";
      expect(verdictOf(tally), JSON.stringify(tally)).toBe(expected);
    }
  });

  it("never takes a verdict back, in whatever order votes come in", () => {
    for (const tally of talliesOf(nodes)) {
      const verdict = verdictOf(tally);
      if (!verdict || tally.pending === 0) continue;
      for (const outcome of OUTCOMES) expect(verdictOf(tallied(tally, outcome))).toBe(verdict);
    }
  });

  it("calls a loss held when a quorum answered, unreachable when none can any more", () => {
    for (const tally of talliesOf(nodes)) {
      const answered = tally.granted + tally.denied;
      const expected =
        answered >= quorum ? "held" : tally.failed > nodes - quorum ? "unreachable" : undefined;
      expect(lossOf(tally), JSON.stringify(tally)).toBe(expected);
    }
  });

  it("tells why a round was lost alike for every order of the same votes", () => {
    for (const tally of talliesOf(nodes)) {
      const early = lossOf(tally);
      if (!early) continue;
      for (const ending of endingsOf(tally)) expect(lossOf(ending)).toBe(early);
    }
  });

  it("always knows why once every node has voted", () => {
    for (const tally of talliesOf(nodes)) {
      if (tally.pending === 0) expect(lossOf(tally)).toBeDefined();
    }
  });

  it("answers yes, no or unknown to a question about our keys, the last when nobody is out", () => {
    for (const tally of talliesOf(nodes)) {
      // No: what was denied leaves too few nodes, whatever those that failed may hold.
      const expected =
        tally.granted >= quorum
          ? "yes"
          : nodes - tally.denied < quorum
            ? "no"
            : tally.pending === 0
              ? "unknown"
              : undefined;
      expect(majorityOf(tally), JSON.stringify(tally)).toBe(expected);
      if (expected === "no") {
        expect(anyEnding(tally, ({ granted }) => granted >= quorum)).toBe(false);
      }
    }
  });

  it("never takes failures alone for a no", () => {
    for (let failed = 0; failed <= nodes; failed++) {
      expect(majorityOf({ ...empty(nodes), failed })).not.toBe("no");
    }
  });

  it("is complete when the last vote is in", () => {
    for (const tally of talliesOf(nodes)) {
      expect(completeOf(tally)).toBe(tally.pending === 0 ? true : undefined);
    }
  });
});

describe("an even number of nodes", () => {
  it.each([2, 4, 6])("decides a tie at %i nodes without the votes still out", (nodes) => {
    expect(verdictOf({ ...empty(nodes), denied: nodes / 2 })).toBe("lost");
    expect(verdictOf({ ...empty(nodes), granted: nodes / 2, denied: nodes / 2 })).toBe("lost");
  });

  it.each([2, 4, 6])("leaves a question open to another try after a tie of %i nodes", (nodes) => {
    const tie = { ...empty(nodes), granted: nodes / 2, failed: nodes / 2 };
    expect(majorityOf(tie)).toBe("unknown");
  });
});

describe("whether nodes that were left out are needed", () => {
  const of = (granted: number, denied: number, failed: number): Tally => ({
    nodes: 5,
    granted,
    denied,
    failed,
  });

  it.each<[what: string, tally: Tally, needed: boolean | undefined]>([
    ["is open while others may still answer", of(2, 0, 0), undefined],
    ["no, where the others granted a quorum", of(3, 0, 0), false],
    ["no, where a quorum answered and the round is lost", of(0, 3, 0), false],
    ["yes, where the others leave it open", of(2, 1, 0), true],
    ["yes, where the others refuse", of(1, 0, 2), true],
    ["yes, where it is lost but nobody knows whether it is held", of(0, 2, 1), true],
  ])("%s", (_, tally, needed) => {
    expect(needsMore(tally, 2)).toBe(needed);
  });
});
