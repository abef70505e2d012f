import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Redlock } from "@redlatch/core";
import { tellOfFailures } from "./failures.ts";
import { faultsOf, heal, letHappen, quorumOf } from "./faults.ts";
import type { NodeSet } from "./node-set.ts";
import { observe } from "./observer.ts";
import { openingLines } from "./opening.ts";
import type { DemoPlan, Span } from "./plan.ts";
import type { Proof } from "./proof.ts";
import { Race, type Section } from "./race.ts";
import { lockedSection, openSection } from "./sections.ts";
import { timeLimit } from "./time-limit.ts";
import type { View } from "./view.ts";

/** For a first connection over a long way; while the race runs the nodes' own limit holds. */
const FIRST_CONTACT_MS = 2_000;

/**
 * Runs the race under the lock with faults, then the same race without the lock.
 *
 * @throws QuorumUnreachableError when too few nodes can be reached to begin with.
 * @throws the signal's reason when it aborts, after everything was cleaned up.
 */
export async function runDemo(
  plan: DemoPlan,
  nodeSet: NodeSet,
  view: View,
  signal: AbortSignal,
): Promise<Proof> {
  const stage = new Stage(plan, nodeSet, view, signal);
  try {
    await stage.open();
    const locked = await stage.raceUnderLock();
    signal.throwIfAborted();
    const leftBehind = await stage.clear();
    const open = await stage.raceWithoutLock(locked.updates);
    signal.throwIfAborted();
    return { locked, open, leftBehind };
  } catch (error) {
    if (signal.aborted) await stage.interrupted();
    throw error;
  } finally {
    await stage.close();
  }
}

/** What both races need, and what must be cleaned up after them. */
class Stage {
  readonly #plan: DemoPlan;
  readonly #nodeSet: NodeSet;
  readonly #view: View;
  readonly #signal: AbortSignal;
  readonly #resource = `redlatch-demo:${randomUUID()}`;
  readonly #observer: Redlock;
  readonly #redlocks = new Map<string, Redlock>();
  readonly #startedMs = performance.now();

  constructor(plan: DemoPlan, nodeSet: NodeSet, view: View, signal: AbortSignal) {
    this.#plan = plan;
    this.#nodeSet = nodeSet;
    this.#view = view;
    this.#signal = signal;
    this.#observer = this.#newRedlock();
  }

  /** Refuses to begin without a quorum, and says what is going to happen. */
  async open(): Promise<void> {
    const { nodes } = this.#nodeSet;
    const early: string[] = [];
    let tell = (text: string): void => void early.push(text);
    tellOfFailures(this.#observer, nodes, (text) => tell(text));
    const contact = { ttlMs: 2 * FIRST_CONTACT_MS, nodeTimeoutMs: FIRST_CONTACT_MS, waitMs: 0 };
    const signal = this.#signal;
    const lease = await this.#observer.acquire(this.#resource, { ...contact, signal });
    await lease.release();
    tell = (text) => this.#tell(text);
    const lines = openingLines(this.#plan.workers, this.#nodeSet, `lock:${this.#resource}`);
    for (const text of [...lines, ...early]) tell(text);
  }

  async raceUnderLock(): Promise<Race> {
    const { raceMs, ttlMs } = this.#plan;
    const { nodes } = this.#nodeSet;
    const section = lockedSection((worker) => this.#redlockOf(worker), this.#resource, ttlMs);
    const race = this.#newRace(section);
    const limit = timeLimit(raceMs, this.#signal);
    const answering = await this.#answering();
    const faults = faultsOf(nodes.length, answering, raceMs);
    if (faults.length === 0) this.#tell(`no faults are played: ${this.#quorumText(answering)}`);
    const happened = (what: string) => this.#tell(`${what}: ${this.#quorumText(answering)}`);
    try {
      await Promise.all([
        race.run(() => true, limit.signal),
        letHappen(faults, this.#nodeSet, limit.signal, happened),
        observe(this.#observer, this.#resource, nodes, limit.signal, () => {
          // Taken before the nodes are asked: a hung one delays the answer, and workers go on.
          const scene = this.#scene("With the lock", race);
          return (observation) => this.#view.show({ ...scene, observation });
        }),
      ]);
    } finally {
      limit.end();
    }
    return race;
  }

  /** Ends the faults and the workers' Redlocks; names the nodes that still hold a key. */
  async clear(): Promise<readonly string[]> {
    heal(this.#nodeSet.nodes);
    await Promise.all([...this.#redlocks.values()].map((redlock) => redlock.close()));
    this.#redlocks.clear();
    const { nodes } = await this.#observer.inspect(this.#resource);
    return nodes.filter(({ state }) => state === "held").map(({ node }) => node);
  }

  /** As many updates as were made under the lock. */
  async raceWithoutLock(updates: number): Promise<Race> {
    const race = this.#newRace(openSection);
    const ended = new AbortController();
    let begun = 0;
    this.#tell(`the same ${updates} updates without the lock`);
    const drawing = this.#draw("Without the lock", race, ended.signal);
    await race.run(() => begun++ < updates, this.#signal);
    ended.abort();
    await drawing;
    return race;
  }

  /** Tells that a stopped demo leaves nothing behind. */
  async interrupted(): Promise<void> {
    const leftBehind = await this.clear();
    const keys = leftBehind.length === 0 ? "no key is left" : `keys expire on ${leftBehind}`;
    this.#tell(`all nodes are as before, the lock is released, ${keys}`);
  }

  /** Leaves no timer, no connection and no key behind. Can follow `clear`. */
  async close(): Promise<void> {
    heal(this.#nodeSet.nodes);
    const redlocks = [...this.#redlocks.values(), this.#observer];
    await Promise.all(redlocks.map((redlock) => redlock.close()));
  }

  /** The places of the nodes that answer. */
  async #answering(): Promise<readonly number[]> {
    const { nodes } = await this.#observer.inspect(this.#resource);
    return nodes.flatMap(({ state }, index) => (state === "failed" ? [] : [index]));
  }

  #quorumText(answering: readonly number[]): string {
    const { nodes } = this.#nodeSet;
    const up = answering.filter((index) => nodes[index]?.state === "up").length;
    return `${up} of ${nodes.length} answer, quorum ${quorumOf(nodes.length)}`;
  }

  async #draw(title: string, race: Race, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      this.#view.show(this.#scene(title, race));
      await sleep(100, undefined, { signal: ended }).catch(() => {});
    }
  }

  #newRace(section: Section): Race {
    const { workers, pauseMs, restMs } = this.#plan;
    return new Race({
      workers,
      section,
      pause: () => sleep(anyOf(pauseMs)),
      rest: () => sleep(anyOf(restMs)),
      nowMs: () => this.#elapsedMs(),
      onTurn: (turn) => this.#view.turn(this.#elapsedMs(), turn),
    });
  }

  #redlockOf(worker: string): Redlock {
    const redlock = this.#redlocks.get(worker) ?? this.#newRedlock();
    this.#redlocks.set(worker, redlock);
    return redlock;
  }

  #newRedlock(): Redlock {
    const { nodeTimeoutMs } = this.#nodeSet;
    return new Redlock(this.#nodeSet.connect(), { ttlMs: this.#plan.ttlMs, nodeTimeoutMs });
  }

  #scene(title: string, race: Race) {
    return {
      title,
      elapsedMs: this.#elapsedMs(),
      totalMs: this.#plan.totalMs,
      race: race.snapshot(),
    };
  }

  #tell(text: string): void {
    this.#view.tell(this.#elapsedMs(), text);
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }
}

const anyOf = ([least, most]: Span): number => least + Math.random() * (most - least);
