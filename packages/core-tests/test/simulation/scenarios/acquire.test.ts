import { isRedlockError } from "@redlatch/core";
import type { Fault, MessageKind } from "@redlatch/testing/simulator";
import { describe, expect, it } from "vitest";
import { expectKept, linesOf, NODE_TIMEOUT_MS, type Part, TTL_MS, timeOf } from "../scenario.ts";

const message = (
  client: number,
  node: number,
  command: MessageKind,
  nth: number,
  fate: Partial<Fault>,
): Fault => ({ kind: "message", atMs: 0, client, node, command, nth, ...fate }) as Fault;

const onEach = (nodes: readonly number[], fault: (node: number) => Fault): Fault[] =>
  nodes.map(fault);

const idle: Part = async () => {};

describe("a tie on an even number of nodes", () => {
  it("is lost at once, without waiting for the time limit", async () => {
    const tookMs: number[] = [];
    const compete: Part = async (client) => {
      client.redlock.on("attempt", ({ elapsedMs }) => tookMs.push(elapsedMs));
      const holding = await client.acquire("a");
      await holding.release();
    };
    const late = { delayRequestMs: 1 };
    await expectKept(
      [compete, compete],
      [
        ...onEach([2, 3], (node) => message(0, node, "acquire", 1, late)),
        ...onEach([0, 1], (node) => message(1, node, "acquire", 1, late)),
      ],
      { nodes: 4, options: { retryJitter: 0.9 } },
    );
    expect(tookMs.length).toBeGreaterThan(2);
    for (const ms of tookMs) expect(ms).toBeLessThan(NODE_TIMEOUT_MS / 2);
  });
});

describe("a release of the first attempt that comes after the second attempt's command", () => {
  it("does not delete the second attempt's key, which has another token", async () => {
    const first: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(25);
      await holding.release();
    };
    const second: Part = async (client) => {
      await client.sleep(10);
      const holding = await client.acquire("a");
      await client.sleep(TTL_MS / 2);
      expect(holding.isHeld()).toBe(true);
      await holding.release();
    };
    const faults = onEach([0, 1, 2, 3, 4], (node) =>
      message(1, node, "release", 1, { delayRequestMs: 60 }),
    );
    const result = await expectKept([first, second], faults);
    const [won] = linesOf(result, "c2").filter((line) => line.startsWith("c2 holds"));
    expect(timeOf(result, /n1 release c2-1/)).toBeGreaterThan(timeOf(result, /c2 holds/));
    expect(won).not.toContain("c2-1 ");
  });
});

describe("a command that overtakes the release sent after it", () => {
  it("is released again when its answer arrives", async () => {
    const abort = new AbortController();
    const caller: Part = async (client) => {
      const waiting = client.acquire("a", { signal: abort.signal });
      client.sleep(5).then(() => abort.abort(new Error("enough")));
      await expect(waiting).rejects.toThrow("enough");
      await client.sleep(TTL_MS / 4);
    };
    const slow = { delayRequestMs: 15 };
    const result = await expectKept(
      [caller],
      onEach([0, 1, 2], (node) => message(0, node, "acquire", 1, slow)),
    );
    expect(linesOf(result, "n1")).toEqual([
      "n1 release c1-1 0",
      "n1 acquire c1-1 1",
      "n1 release c1-1 1",
      ...linesOf(result, "n1").slice(3),
    ]);
    expect(timeOf(result, /n1 release c1-1 1/) - timeOf(result, /n1 acquire c1-1/)).toBeLessThan(4);
  });

  it("is released again after 1, 2, 4 time limits where its answer never arrives", async () => {
    const abort = new AbortController();
    const caller: Part = async (client) => {
      const waiting = client.acquire("a", { signal: abort.signal });
      client.sleep(5).then(() => abort.abort(new Error("enough")));
      await expect(waiting).rejects.toThrow("enough");
      await client.sleep(TTL_MS);
    };
    const result = await expectKept(
      [caller],
      onEach([0, 1, 2], (node) =>
        message(0, node, "acquire", 1, { delayRequestMs: 30, loseReply: true }),
      ),
    );
    const setMs = timeOf(result, /n1 acquire c1-1/);
    expect(timeOf(result, /n1 release c1-1 1/) - setMs).toBeLessThan(2 * setMs + NODE_TIMEOUT_MS);
  });
});

describe("the class of an error", () => {
  const holder: Part = async (client) => {
    const holding = await client.acquire("a", { ttlMs: 1_000 });
    await client.sleep(200);
    await holding.release();
  };
  const codeOf = async (faults: readonly Fault[]): Promise<unknown> => {
    let code: unknown;
    const asker: Part = async (client) => {
      await client.sleep(20);
      try {
        await client.acquire("a", { waitMs: 0 });
      } catch (error) {
        code = isRedlockError(error) ? error.code : error;
      }
    };
    await expectKept([holder, asker], faults);
    return code;
  };
  const silent = (node: number) => message(1, node, "acquire", 1, { loseReply: true });
  const late = (node: number, delayReplyMs: number) =>
    message(1, node, "acquire", 1, { delayReplyMs });

  it.each([
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ])("is held where a quorum denies, in whatever order (%i, %i, %i)", async (...order) => {
    const faults = order.map((node, index) => late(node, 5 * index));
    expect(await codeOf([...faults, silent(3), silent(4)])).toBe("RESOURCE_HELD");
  });

  it("is unreachable where too few answer, however quickly the others deny", async () => {
    expect(await codeOf([late(0, 0), late(1, 5), silent(2), silent(3), silent(4)])).toBe(
      "QUORUM_UNREACHABLE",
    );
  });
});

describe("nodes that are not asked, as an attempt was lost while they undid the one before", () => {
  it("count as reachable: they have answered all that they were asked", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(100);
      await holding.release();
    };
    const asker: Part = async (client) => {
      await client.sleep(10);
      const error = await client.acquire("a", { waitMs: 12 }).catch((reason) => reason);
      expect(error.code).toBe("RESOURCE_HELD");
    };
    const slow = { delayRequestMs: 15 };
    await expectKept(
      [holder, asker],
      onEach([2, 3], (node) => message(1, node, "release", 1, slow)),
      { nodes: 4 },
    );
  });
});

describe("a split vote", () => {
  it("freezes nobody for a whole ttl", async () => {
    const compete: Part = async (client) => {
      const holding = await client.acquire("a");
      await holding.release();
    };
    const favourites = [0, 1, 2].flatMap((client) =>
      [0, 1, 2]
        .filter((node) => node !== client)
        .map((node) => message(client, node, "acquire", 1, { delayRequestMs: 3 })),
    );
    const result = await expectKept([compete, compete, compete], favourites, {
      nodes: 3,
      options: { ttlMs: 2_000, retryJitter: 0.9 },
    });
    expect(timeOf(result, /holds/)).toBeLessThan(200);
  });
});

describe("answers that take longer than the lease would last", () => {
  it("give no lease, and leave no key", async () => {
    const sleeper: Part = async (client) => {
      const error = await client.acquire("a", { waitMs: 0 }).catch((reason) => reason);
      expect(error.code).toBe("QUORUM_UNREACHABLE");
      expect(String(error.cause)).toContain("too long");
    };
    await expectKept(
      [sleeper],
      [{ kind: "pause", atMs: 0.5, client: 0, durationMs: TTL_MS, repliesFirst: true }],
    );
  });
});

describe("the next attempt", () => {
  it("is sent to a node only after that node has answered the undo", async () => {
    const holder: Part = async (client) => {
      const holding = await client.acquire("a");
      await client.sleep(14);
      await holding.release();
    };
    const asker: Part = async (client) => {
      await client.sleep(10);
      const holding = await client.acquire("a");
      await client.sleep(20);
      await holding.release();
    };
    const result = await expectKept(
      [holder, asker],
      [message(1, 0, "release", 1, { delayRequestMs: 15 })],
    );
    const order = linesOf(result, "n1").filter((line) => /c2-[12]/.test(line));
    expect(order.slice(0, 3).map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
      "n1 acquire c2-1",
      "n1 release c2-1",
      "n1 acquire c2-2",
    ]);
  });
});

describe("nodes that hang", () => {
  it("delay nobody while a quorum answers", async () => {
    const caller: Part = async (client) => {
      const holding = await client.acquire("a");
      await holding.release();
    };
    const hang = (node: number): Fault => ({ kind: "hang", atMs: 0, node, durationMs: 500 });
    const result = await expectKept([caller, idle], [hang(3), hang(4)]);
    expect(timeOf(result, /c1 holds/)).toBeLessThan(5);
  });

  it("keep nobody waiting beyond the time limit where no quorum answers", async () => {
    const caller: Part = async (client) => {
      await expect(client.acquire("a", { waitMs: 50 })).rejects.toThrow(/no quorum/);
      expect(client.nowMs).toBeLessThan(50 + NODE_TIMEOUT_MS + 3);
    };
    const hang = (node: number): Fault => ({ kind: "hang", atMs: 0, node, durationMs: 500 });
    await expectKept([caller], [hang(2), hang(3), hang(4)]);
  });
});
