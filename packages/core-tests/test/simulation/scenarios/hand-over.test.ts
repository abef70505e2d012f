import type { LeaseHandle } from "@redlatch/core";
import type { Fault, MessageKind } from "@redlatch/testing/simulator";
import { describe, expect, it } from "vitest";
import { expectKept, linesOf, type Part, play, TTL_MS } from "../scenario.ts";

const message = (node: number, command: MessageKind, nth: number, fate: Partial<Fault>): Fault =>
  ({ kind: "message", atMs: 0, client: 0, node, command, nth, ...fate }) as Fault;

/** A giver that hands over after a while, and a place where the handle is found. */
function giving(afterMs: number, before: Part = async () => {}) {
  const sent: { handle?: LeaseHandle } = {};
  const giver: Part = async (client) => {
    const holding = await client.acquire("a");
    await before(client);
    await client.sleep(afterMs);
    sent.handle = holding.handOver();
    // Leaving its scope must not release it.
    expect(await holding.release()).toBe("expired");
  };
  return { giver, sent };
}

describe("a restored lease", () => {
  it("lasts as long as a quorum keeps the keys, whatever the giver's clock says", async () => {
    const { giver, sent } = giving(100);
    const receiver: Part = async (client) => {
      await client.sleep(120);
      const holding = await client.restore(sent.handle as LeaseHandle);
      expect(holding.lease.remainingMs()).toBeLessThan(TTL_MS - 120);
      await client.sleep(TTL_MS / 4);
      expect(holding.isHeld()).toBe(true);
      await holding.release();
    };
    // The clients' wall clocks are hours apart in any case, and the giver's jumps.
    await expectKept(
      [giver, receiver],
      [{ kind: "client-clock-jump", atMs: 50, client: 0, byMs: -3_600_000 }],
    );
  });

  it("counts on the q-th longest of the remaining times, not on the longest", async () => {
    const sent: { handle?: LeaseHandle } = {};
    const giver: Part = async (client) => {
      const holding = await client.acquire("a");
      await holding.extend(TTL_MS * 3).catch(() => {});
      sent.handle = holding.handOver();
    };
    const receiver: Part = async (client) => {
      await client.sleep(60);
      const holding = await client.restore(sent.handle as LeaseHandle);
      expect(holding.lease.remainingMs()).toBeLessThan(TTL_MS);
      await holding.release();
    };
    const lost = [0, 1, 2].map((node) => message(node, "extend", 1, { loseRequest: true }));
    await expectKept([giver, receiver], lost);
  });

  it("is not restored once the keys are gone", async () => {
    const { giver, sent } = giving(100);
    const receiver: Part = async (client) => {
      await client.sleep(TTL_MS + 50);
      const error = await client.restore(sent.handle as LeaseHandle).catch((reason) => reason);
      expect(error.code).toBe("LEASE_LOST");
    };
    await expectKept([giver, receiver]);
  });

  it("is not released by its giver", async () => {
    const { giver, sent } = giving(20);
    const receiver: Part = async (client) => {
      await client.sleep(30);
      const holding = await client.restore(sent.handle as LeaseHandle);
      await client.sleep(50);
      expect(holding.isHeld()).toBe(true);
      await holding.release();
    };
    const result = await expectKept([giver, receiver]);
    expect(linesOf(result, "n1").filter((line) => /release c1-1/.test(line))).toEqual([
      "n1 release c1-1 1",
    ]);
  });
});

describe("one handle restored twice", () => {
  it("makes two holders: the caller's error, which the simulator sees", async () => {
    const { giver, sent } = giving(20);
    const receiver: Part = async (client) => {
      await client.sleep(30);
      const holding = await client.restore(sent.handle as LeaseHandle);
      await client.sleep(50);
      await holding.release();
    };
    const { violations } = await play([giver, receiver, receiver]);
    expect(violations.map(({ invariant }) => invariant)).toContain("exclusion");
  });
});
