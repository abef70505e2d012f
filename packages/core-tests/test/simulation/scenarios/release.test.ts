import type { Fault, MessageKind } from "@redlatch/testing/simulator";
import { describe, expect, it } from "vitest";
import { expectKept, linesOf, NODE_TIMEOUT_MS, type Part, TTL_MS, timeOf } from "../scenario.ts";

const ALL = [0, 1, 2, 3, 4];

const message = (node: number, command: MessageKind, nth: number, fate: Partial<Fault>): Fault =>
  ({ kind: "message", atMs: 0, client: 0, node, command, nth, ...fate }) as Fault;

describe("a release while an extension is in flight", () => {
  it("comes after it on each node, so that minHoldMs is not exceeded", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a", { minHoldMs: 60 });
      const extension = holding.extend().catch(() => {});
      await client.sleep(2);
      await holding.release();
      await extension;
    };
    const next: Part = async (client) => {
      await client.sleep(10);
      const holding = await client.acquire("a");
      expect(client.nowMs).toBeLessThan(100);
      await holding.release();
    };
    const result = await expectKept(
      [holder, next],
      ALL.map((node) => message(node, "extend", 1, { delayRequestMs: 12 })),
    );
    expect(timeOf(result, /n1 release c1-1/)).toBeGreaterThan(timeOf(result, /n1 extend c1-1/));
  });
});

describe("a release after the lease had expired", () => {
  it("takes nothing from the next holder", async () => {
    const late: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(TTL_MS + 50);
      expect(await holding.release()).toBe("expired");
    };
    const next: Part = async (client) => {
      await client.sleep(10);
      const holding = await client.acquire("a");
      await client.sleep(TTL_MS / 2);
      expect(holding.isHeld()).toBe(true);
      await holding.release();
    };
    await expectKept(
      [late, next],
      [{ kind: "pause", atMs: 20, client: 0, durationMs: TTL_MS + 40 }],
    );
  });
});

describe("a release that no quorum answers", () => {
  it("resolves in bounded time, and goes on until the keys are gone", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(5);
      const fromMs = client.nowMs;
      expect(await holding.release()).toBe("unreachable");
      expect(client.nowMs - fromMs).toBeLessThan(NODE_TIMEOUT_MS + 3);
      await client.sleep(TTL_MS);
    };
    const result = await expectKept(
      [holder],
      [{ kind: "partition", atMs: 5, durationMs: 50, clients: [0], nodes: [0, 1, 2] }],
    );
    const releasedMs = timeOf(result, /n1 release c1-1 1/);
    expect(releasedMs).toBeGreaterThan(55);
    expect(releasedMs).toBeLessThan(55 + 2 * 50);
  });
});

describe("an aborted call", () => {
  it("undoes with time of its own, not with the caller's aborted signal", async () => {
    const abort = new AbortController();
    const caller: Part = async (client) => {
      client.sleep(1.5).then(() => abort.abort(new Error("enough")));
      await expect(client.acquire("a", { signal: abort.signal })).rejects.toThrow("enough");
      await client.sleep(TTL_MS / 2);
    };
    const result = await expectKept([caller], [], {
      traits: {
        link: {
          leastDelayMs: 1,
          typicalDelayMs: 0,
          ordered: false,
          honoursAbort: true,
          rejects: 0,
        },
      },
    });
    for (const node of ALL)
      expect(linesOf(result, `n${node + 1}`)).toContain(`n${node + 1} release c1-1 1`);
  });
});

describe("closing", () => {
  it("rejects those who wait and releases what has ended, in bounded time", async () => {
    const closer: Part = async (client) => {
      const holding = await client.acquire("a");
      const waiting = client.acquire("a").catch((error) => error);
      await client.sleep(5);
      const closing = client.close(50);
      expect((await waiting).code).toBe("CLOSED");
      expect(holding.lease.signal.aborted).toBe(true);
      await closing;
      expect(client.nowMs).toBeLessThan(60 + NODE_TIMEOUT_MS);
    };
    await expectKept([closer]);
  });
});
