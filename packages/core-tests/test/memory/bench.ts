import {
  type Lease,
  Redlock,
  type RedlockEvents,
  type RedlockOptions,
  type ReleaseOutcome,
} from "@redlatch/core";
import { type VirtualClock, virtualClock } from "@redlatch/testing";
import { afterEach, expect } from "vitest";
import { type CommandKind, type Sent, type TappedNode, tappedNode } from "./tapped-node.ts";
import { type Watched, watched } from "./watched.ts";

/** Longer than any lease and any background work of a test on default settings. */
const QUIET_AFTER_MS = 11_000;

const benches = new Set<Bench>();

/** Nodes and a clock for one test. When the test ends nothing may be left on them. */
export class Bench {
  readonly clock: VirtualClock = virtualClock();
  readonly nodes: readonly TappedNode[];
  /** How long background work may go on after the test; raised by tests of long leases. */
  quietAfterMs: number = QUIET_AFTER_MS;
  #sleptMs = 0;
  #tokens = 0;

  constructor(nodes: number) {
    const startMs = this.clock.wallMs();
    // The nodes are other machines: they neither sleep nor jump with the client's.
    const nodeClock = { wallMs: () => startMs + this.clock.monotonicMs() + this.#sleptMs };
    this.nodes = Array.from({ length: nodes }, (_, index) =>
      tappedNode(`node-${index + 1}`, this.clock, nodeClock),
    );
    benches.add(this);
  }

  /** A client; several on one bench are several processes. Backoff without jitter, tokens t1, t2, … */
  redlock(options: RedlockOptions = {}): Redlock {
    const random = { uniform: () => 0.5, token: () => `t${++this.#tokens}` };
    return new Redlock(this.nodes, { clock: this.clock, random, ...options });
  }

  node(index: number): TappedNode {
    const node = this.nodes[index];
    if (!node) throw new RangeError(`no node ${index}`);
    return node;
  }

  /** Runs virtual time until the promise settles; at most `withinMs`. */
  run<Value>(promise: Promise<Value>, withinMs = 60_000): Promise<Value> {
    return this.clock.runUntil(promise, withinMs);
  }

  /** Runs virtual time until the promise rejects; gives the reason. */
  async failure(promise: Promise<unknown>, withinMs?: number): Promise<unknown> {
    const seen = watched(this.clock, promise);
    await this.run(promise, withinMs).catch(() => {});
    if (seen.state !== "rejected") throw new Error("expected a rejection");
    return seen.error;
  }

  /** Releases a lease that there must be. */
  release(lease: Lease | null | undefined): Promise<ReleaseOutcome> {
    if (!lease) throw new Error("there is no lease to release");
    return this.run(lease.release());
  }

  watch<Value>(promise: Promise<Value>): Watched<Value> {
    return watched(this.clock, promise);
  }

  /** The client's machine sleeps; the nodes do not. */
  suspend(ms: number): void {
    this.clock.suspend(ms);
    this.#sleptMs += ms;
  }

  /** All commands so far, in order of their arrival per node. */
  sent(...kinds: CommandKind[]): Sent[] {
    const all = this.nodes.flatMap((node) => node.sent);
    return kinds.length ? all.filter(({ kind }) => kinds.includes(kind)) : all;
  }

  /** The value of a key on every node; null where it is free. */
  values(key = "lock:a"): unknown[] {
    return this.nodes.map(({ memory }) => memory.dump()[key]?.value ?? null);
  }

  /** Every key on every node that a client of the bench has set, e.g. `node-1 lock:a=t1`. */
  keys(): string[] {
    return this.nodes.flatMap(({ name, memory }) =>
      Object.entries(memory.dump())
        .filter(([, { value }]) => !String(value).startsWith("other"))
        .map(([key, { value }]) => `${name} ${key}=${String(value)}`),
    );
  }

  /** Has somebody else hold a resource on some nodes. */
  occupy(nodes: readonly number[], ms = 5_000, value = "other", key = "lock:a"): void {
    for (const index of nodes) {
      this.node(index).memory.execute(["SET", key, value, "PX", String(ms)]);
    }
  }
}

export const bench = (nodes = 5): Bench => new Bench(nodes);

/** Collects events of one kind. */
export function heard<Name extends keyof RedlockEvents>(
  redlock: Redlock,
  name: Name,
): RedlockEvents[Name][] {
  const events: RedlockEvents[Name][] = [];
  redlock.on(name, (event) => events.push(event));
  return events;
}

/** Nothing of a test may be left: no key at its end, no timer once background work had its time. */
async function nothingLeft(): Promise<void> {
  const all = [...benches];
  benches.clear();
  for (const bench of all) {
    await bench.clock.settle();
    const keys = bench.keys();
    await bench.clock.advance(bench.quietAfterMs);
    expect(keys, "keys left behind").toEqual([]);
    expect(bench.keys(), "keys that came later").toEqual([]);
    expect(bench.clock.pendingTimers, "timers left behind").toBe(0);
  }
}

afterEach(nothingLeft);
