import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { type Proof, proofHolds, proofText, type RaceResult } from "../src/demo/proof.ts";

const plain = pc.createColors(false);

function proofOf(locked: Partial<RaceResult>, leftBehind: readonly string[] = []): Proof {
  const rest = { mostInside: 1, longestWaitMs: 1_234.5, leasesLost: 0 };
  return {
    locked: { updates: 60, counter: 60, ...rest, ...locked },
    open: { updates: 60, counter: 17, ...rest, mostInside: 4 },
    leftBehind,
  };
}

describe("the proof", () => {
  it("holds where every update was counted", () => {
    expect(proofHolds(proofOf({}))).toBe(true);
    expect(proofText(proofOf({}), plain)).toMatchInlineSnapshot(`
      "
                                    with the lock   without it
      acquisitions                             60            -
      expected count                           60           60
      actual count                             60           17
      lost updates                              0           43
      most workers inside at once               1            4
      longest wait                       1,235 ms            -

      PROVED: 60 updates made, 60 counted, lost updates: 0. The same race without the lock lost 43 of 60.
      "
    `);
  });

  it("does not hold where an update was lost", () => {
    const proof = proofOf({ counter: 58 });
    expect(proofHolds(proof)).toBe(false);
    expect(proofText(proof, plain)).toContain("BROKEN: 2 updates were lost under the lock.");
  });

  it("does not hold where nobody got in", () => {
    const proof = proofOf({ updates: 0, counter: 0 });
    expect(proofHolds(proof)).toBe(false);
    expect(proofText(proof, plain)).toContain("NO PROOF: no worker got the lock");
  });

  it("counts leases that were lost as acquisitions without an update", () => {
    const text = proofText(proofOf({ leasesLost: 2 }), plain);
    expect(text).toMatch(/acquisitions +62 /);
    expect(text).toMatch(/leases lost in time +2 /);
  });

  it("names nodes with keys left behind", () => {
    expect(proofText(proofOf({}, ["node-4"]), plain)).toContain("still on node-4");
  });
});
