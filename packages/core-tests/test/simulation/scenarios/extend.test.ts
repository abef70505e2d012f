import { isRedlockError } from "@redlatch/core";
import type { Fault, MessageKind } from "@redlatch/testing/simulator";
import { describe, expect, it } from "vitest";
import { expectKept, linesOf, NODE_TIMEOUT_MS, type Part, TTL_MS, timeOf } from "../scenario.ts";

const ALL = [0, 1, 2, 3, 4];

const message = (node: number, command: MessageKind, nth: number, fate: Partial<Fault>): Fault =>
  ({ kind: "message", atMs: 0, client: 0, node, command, nth, ...fate }) as Fault;

const codeOf = (error: unknown): unknown => (isRedlockError(error) ? error.code : error);

describe("an extension that would shorten the lease", () => {
  it("shortens no key where its answers are lost", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      const error = await holding.extend(30).catch((reason) => reason);
      expect(codeOf(error)).toBe("QUORUM_UNREACHABLE");
      await client.sleep(TTL_MS * 0.8);
      expect(holding.isHeld()).toBe(true);
      await holding.release();
    };
    await expectKept(
      [holder],
      ALL.map((node) => message(node, "extend", 1, { loseReply: true })),
    );
  });

  it("shortens no key where it is executed late, after a longer one", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await holding.extend(30).catch(() => {});
      await holding.extend(TTL_MS * 2);
      await client.sleep(TTL_MS * 1.5);
      expect(holding.isHeld()).toBe(true);
      await holding.release();
    };
    const result = await expectKept(
      [holder],
      ALL.map((node) => message(node, "extend", 1, { delayRequestMs: 60 })),
    );
    expect(linesOf(result, "n1").filter((line) => line.startsWith("n1 extend"))).toHaveLength(2);
  });
});

describe("two additions that reach different majorities", () => {
  it("promise no more than a quorum keeps", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await holding.extend({ addMs: 100 });
      await holding.extend({ addMs: 100 });
      await client.sleep(holding.lease.remainingMs() - 1);
      expect(holding.isHeld()).toBe(true);
      await holding.release();
    };
    await expectKept(
      [holder],
      [
        ...[3, 4].map((node) => message(node, "extend", 1, { loseRequest: true })),
        ...[0, 1].map((node) => message(node, "extend", 2, { loseRequest: true })),
      ],
    );
  });
});

describe("a node that lost its keys", () => {
  it("gets them again after a renewal, and counts from then on", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(20);
      await holding.extend();
      await client.sleep(10);
      await holding.extend();
      await client.sleep(TTL_MS / 2);
      await holding.release();
    };
    const result = await expectKept(
      [holder],
      [
        { kind: "flush", atMs: 10, node: 0 },
        { kind: "hang", atMs: 25, node: 3, durationMs: 100 },
        { kind: "hang", atMs: 25, node: 4, durationMs: 100 },
      ],
    );
    expect(linesOf(result, "n1")).toContain("n1 extend c1-1 0");
    expect(linesOf(result, "n1")).toContain("n1 extend c1-1 1");
  });

  it("is not repaired into a quorum where the quorum was gone", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(20);
      for (let tries = 0; tries < 3; tries++) {
        const error = await holding.extend().catch((reason) => reason);
        expect(codeOf(error)).toMatch(/QUORUM_UNREACHABLE|LEASE_LOST/);
      }
    };
    // Node 3 never had the key, node 2 loses it: node 1 alone is no quorum, whatever is set again.
    const result = await expectKept(
      [holder],
      [
        message(2, "acquire", 1, { loseRequest: true }),
        { kind: "hang", atMs: 0, node: 2, durationMs: 150 },
        { kind: "flush", atMs: 10, node: 1 },
      ],
      { nodes: 3 },
    );
    expect(linesOf(result).join("\n")).not.toContain("has extended");
  });
});

describe("an extension whose answers come after the deadline", () => {
  it("brings no lost lease back", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(TTL_MS - 15);
      const error = await holding.extend().catch((reason) => reason);
      expect(codeOf(error)).toBe("LEASE_LOST");
      expect(holding.isHeld()).toBe(false);
    };
    await expectKept(
      [holder],
      ALL.map((node) => message(node, "extend", 1, { delayReplyMs: 15 })),
    );
  });
});

describe("an extension that learns of a loss", () => {
  it("ends the lease at once, not at its deadline", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(20);
      const error = await holding.extend().catch((reason) => reason);
      expect(codeOf(error)).toBe("LEASE_LOST");
      expect(holding.lease.signal.aborted).toBe(true);
      expect(client.nowMs).toBeLessThan(20 + NODE_TIMEOUT_MS);
    };
    await expectKept(
      [holder],
      [0, 1, 2].map((node): Fault => ({ kind: "flush", atMs: 10, node })),
    );
  });

  it("keeps it where too few nodes say so", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(20);
      const error = await holding.extend().catch((reason) => reason);
      expect(codeOf(error)).toBe("QUORUM_UNREACHABLE");
      expect(holding.isHeld()).toBe(true);
      await holding.extend();
      await holding.release();
    };
    await expectKept(
      [holder],
      [
        { kind: "flush", atMs: 10, node: 0 },
        { kind: "flush", atMs: 10, node: 1 },
        message(2, "extend", 1, { loseReply: true }),
        message(0, "acquire", 2, { loseRequest: true }),
      ],
    );
  });
});

describe("automatic extension", () => {
  it("goes on while a minority is silent, with the time asked for last", async () => {
    const holder: Part = async (client) => {
      await client.using("a", {}, async (holding) => {
        await holding.extend(TTL_MS * 2);
        await client.sleep(TTL_MS * 4);
        expect(holding.isHeld()).toBe(true);
      });
    };
    const result = await expectKept(
      [holder],
      [{ kind: "partition", atMs: 10, durationMs: 900, clients: [0], nodes: [0, 1] }],
    );
    const extensions = linesOf(result, "n3").filter((line) => line.startsWith("n3 extend"));
    expect(extensions.length).toBeLessThan(12);
    expect(timeOf(result, /c1 holds/)).toBeLessThan(5);
  });
});
