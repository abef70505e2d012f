import {
  HoldLimitError,
  isRedlockError,
  LeaseLostError,
  QuorumUnreachableError,
  RedlockClosedError,
  RedlockError,
  ResourceHeldError,
} from "@redlatch/core";
import { describe, expect, it, vi } from "vitest";
import { bench } from "./bench.ts";
import { refused } from "./tapped-node.ts";

const ALL = [
  [new ResourceHeldError(["a"]), "RESOURCE_HELD", "ResourceHeldError"],
  [new QuorumUnreachableError(["a"], [], 5), "QUORUM_UNREACHABLE", "QuorumUnreachableError"],
  [new LeaseLostError(["a"], "was lost"), "LEASE_LOST", "LeaseLostError"],
  [new HoldLimitError(["a"], 1_000), "HOLD_LIMIT", "HoldLimitError"],
  [new RedlockClosedError(["a"]), "CLOSED", "RedlockClosedError"],
] as const;

describe.each(ALL)("an error", (error, code, name) => {
  it(`of code ${code} is a RedlockError with name, resources and votes`, () => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(RedlockError);
    expect(error).toMatchObject({ code, name, resources: ["a"], votes: [] });
    expect(isRedlockError(error)).toBe(true);
    expect(isRedlockError(error, code)).toBe(true);
    for (const [, other] of ALL) expect(isRedlockError(error, other)).toBe(other === code);
  });
});

describe("isRedlockError", () => {
  it("knows errors of another copy of the package", async () => {
    const b = bench(3);
    b.occupy([0, 1]);
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    vi.resetModules();
    const copy = await import("@redlatch/core");
    expect(copy.ResourceHeldError).not.toBe(ResourceHeldError);
    expect(error).not.toBeInstanceOf(copy.RedlockError);
    expect(copy.isRedlockError(error)).toBe(true);
    expect(copy.isRedlockError(error, "RESOURCE_HELD")).toBe(true);
    expect(copy.isRedlockError(error, "CLOSED")).toBe(false);
  });

  it.each([
    undefined,
    null,
    "RESOURCE_HELD",
    7,
    true,
    {},
    [],
    () => {},
    new Error("RESOURCE_HELD"),
    Object.assign(new Error("x"), { code: "RESOURCE_HELD" }),
    { code: "CLOSED", isRedlockError: "yes" },
  ])("does not take %s for one", (value) => {
    expect(isRedlockError(value)).toBe(false);
    expect(isRedlockError(value, "RESOURCE_HELD")).toBe(false);
  });
});

describe("what an error tells", () => {
  it("is every node's vote, with causes", async () => {
    const b = bench();
    b.occupy([0, 1], 4_000, "other:them");
    b.node(2).fault = refused;
    const error = await b.failure(b.redlock().acquire("a", { waitMs: 0 }));
    if (!isRedlockError(error)) throw error;
    const byNode = new Map(error.votes.map((vote) => [vote.node, vote]));
    expect(byNode.get("node-1")).toEqual({
      node: "node-1",
      outcome: "denied",
      token: "other",
      owner: "them",
      remainingMs: 4_000,
    });
    expect(byNode.get("node-3")).toMatchObject({ outcome: "failed" });
    expect(byNode.get("node-4")).toMatchObject({ outcome: "granted" });
    await b.clock.advance(11_000);
  });

  it("does not contain the token in what is logged of a lease", async () => {
    const b = bench(3);
    const lease = await b.run(b.redlock().acquire("a"));
    expect(JSON.parse(JSON.stringify(lease))).toEqual({
      resources: ["a"],
      deadline: lease.deadline,
      remainingMs: 9_898,
      held: true,
    });
    expect(JSON.stringify(lease)).not.toContain("t1");
    await b.release(lease);
  });
});
