import { describe, expect, it, vi } from "vitest";
import { memoryNode, virtualClock } from "../src/index.ts";
import { type Timer, TimerHeap } from "../src/timer-heap.ts";

describe("a virtual clock", () => {
  it("stands still until it is moved, and starts where it is told to", async () => {
    const clock = virtualClock({ startWallMs: 5_000 });
    expect([clock.monotonicMs(), clock.wallMs(), clock.now]).toEqual([0, 5_000, 0]);
    await clock.advance(1.5);
    expect([clock.monotonicMs(), clock.wallMs(), clock.now]).toEqual([1.5, 5_001.5, 1.5]);
    await clock.advanceTo(10);
    expect(clock.now).toBe(10);
    await clock.advanceTo(3);
    expect(clock.now).toBe(10);
    expect(virtualClock().wallMs()).toBe(Date.parse("2025-01-01T00:00:00Z"));
  });

  it.each([-1, Number.NaN])("refuses to advance by %d ms", async (ms) => {
    await expect(virtualClock().advance(ms)).rejects.toThrow(RangeError);
  });

  it("runs timers by time, then by creation, each at its own time", async () => {
    const clock = virtualClock();
    const ran: [string, number][] = [];
    const note = (name: string) => () => void ran.push([name, clock.now]);
    clock.after(20, note("c"));
    clock.after(10, note("a"));
    clock.after(10, note("b"));
    clock.after(0, note("first"));
    clock.after(-5, note("second"));
    clock.after(Number.NaN, note("third"));
    clock.after(21, note("later"));
    clock.after(Number.POSITIVE_INFINITY, note("never"));
    await clock.advance(20);
    expect(ran).toEqual([
      ["first", 0],
      ["second", 0],
      ["third", 0],
      ["a", 10],
      ["b", 10],
      ["c", 20],
    ]);
    expect(clock.pendingTimers).toBe(2);
    expect(clock.nextTimerAtMs).toBe(21);
  });

  it("runs timers made by timers and by promises, however long the chain", async () => {
    const clock = virtualClock();
    const ran: number[] = [];
    const chain = async (left: number) => {
      for (let tick = 0; tick < 1_000; tick++) await null;
      ran.push(clock.now);
      if (left > 0) clock.after(10, () => void chain(left - 1));
    };
    clock.after(10, () => void chain(3));
    await clock.advance(35);
    expect(ran).toEqual([10, 20, 30]);
    await clock.advance(5);
    expect(ran).toEqual([10, 20, 30, 40]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("runs under fake timers of the test runner", async () => {
    vi.useFakeTimers();
    try {
      const clock = virtualClock();
      const callback = vi.fn();
      clock.after(5, callback);
      await clock.advance(5);
      expect(callback).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  it("counts the timers that wait, and forgets cancelled ones", async () => {
    const clock = virtualClock();
    const callback = vi.fn();
    const cancel = clock.after(10, callback);
    clock.after(5, callback, true);
    expect([clock.pendingTimers, clock.foregroundTimers]).toEqual([2, 1]);
    cancel();
    cancel();
    expect([clock.pendingTimers, clock.foregroundTimers]).toEqual([1, 0]);
    await clock.advance(10);
    expect(callback).toHaveBeenCalledOnce();
    expect(clock.pendingTimers).toBe(0);
    cancel();
  });

  it("lets a callback's error out of advance, and goes on afterwards", async () => {
    const clock = virtualClock();
    const callback = vi.fn();
    clock.after(1, () => {
      throw new Error("boom");
    });
    clock.after(2, callback);
    await expect(clock.advance(5)).rejects.toThrow("boom");
    expect(clock.now).toBe(1);
    await clock.advance(4);
    expect(callback).toHaveBeenCalledOnce();
  });

  it("jumps the wall clock alone", async () => {
    const clock = virtualClock({ startWallMs: 1_000 });
    const callback = vi.fn();
    clock.after(10, callback);
    clock.jumpWall(500);
    clock.jumpWall(-1_000);
    await clock.advance(9);
    expect([clock.now, clock.wallMs()]).toEqual([9, 509]);
    expect(callback).not.toHaveBeenCalled();
  });

  it("suspended: the wall clock runs on, timers are late by as much", async () => {
    const clock = virtualClock({ startWallMs: 0 });
    const node = memoryNode({ clock });
    node.execute(["SET", "k", "v", "PX", "100"]);
    let ranAtWallMs = 0;
    clock.after(50, () => {
      ranAtWallMs = clock.wallMs();
    });
    clock.suspend(1_000);
    expect([clock.now, clock.wallMs(), node.dump()]).toEqual([0, 1_000, {}]);
    await clock.advance(50);
    expect(ranAtWallMs).toBe(1_050);
  });

  it("frozen: both clocks run on, overdue timers run in order afterwards", async () => {
    const clock = virtualClock({ startWallMs: 0 });
    const ran: [string, number][] = [];
    clock.after(20, () => void ran.push(["b", clock.now]));
    clock.after(10, () => void ran.push(["a", clock.now]));
    clock.freeze(1_000);
    expect([clock.now, clock.wallMs(), ran]).toEqual([1_000, 1_000, []]);
    await clock.advance(0);
    expect(ran).toEqual([
      ["a", 1_000],
      ["b", 1_000],
    ]);
  });

  it("steps synchronously for simulators", () => {
    const clock = virtualClock();
    const callback = vi.fn();
    clock.after(10, callback);
    clock.after(Number.POSITIVE_INFINITY, callback);
    expect(clock.runNext()).toBe(true);
    expect([clock.now, callback.mock.calls.length]).toEqual([10, 1]);
    expect(clock.runNext()).toBe(false);
  });
});

describe("runUntil", () => {
  const sleep = (clock: ReturnType<typeof virtualClock>, ms: number) =>
    new Promise<number>((resolve) => void clock.after(ms, () => resolve(clock.now)));

  it("advances until the promise settles, and gives its outcome", async () => {
    const clock = virtualClock();
    expect(await clock.runUntil(sleep(clock, 30_000))).toBe(30_000);
    expect(clock.now).toBe(30_000);
    await expect(clock.runUntil(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("gives up at its limit, or when nothing is left that could settle the promise", async () => {
    const clock = virtualClock();
    const late = sleep(clock, 100);
    await expect(clock.runUntil(late, 99)).rejects.toThrow("not settled within 99 ms");
    expect(await clock.runUntil(late, 100)).toBe(100);
    await expect(clock.runUntil(new Promise(() => {}))).rejects.toThrow("no timer is left");
  });
});

it("keeps the heap in order through any additions and removals", () => {
  const heap = new TimerHeap();
  const live = new Set<Timer>();
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let order = 0; order < 5_000; order++) {
    const choice = random(3);
    if (choice < 2 || live.size === 0) {
      const timer = { atMs: random(50), order, background: false, callback() {}, index: -1 };
      heap.add(timer);
      live.add(timer);
    } else {
      const timer = [...live][random(live.size)]!;
      expect(heap.remove(timer)).toBe(true);
      expect(heap.remove(timer)).toBe(false);
      live.delete(timer);
    }
  }
  const expected = [...live].sort((a, b) => a.atMs - b.atMs || a.order - b.order);
  expect(expected.length).toBeGreaterThan(1_000);
  for (const timer of expected) {
    expect(heap.first()).toBe(timer);
    heap.remove(timer);
  }
  expect(heap.size).toBe(0);
});
