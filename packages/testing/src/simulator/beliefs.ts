import type { Lease } from "@redlatch/core";
import type { Backing } from "./backing.ts";
import { type Belief, lossDueMs, nameOf, newBelief, report } from "./belief.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/**
 * What clients believe to hold, judged by true time: one holder per resource, a quorum of nodes behind each,
 * and an end at the deadline that the holder hears of.
 */
export class Beliefs {
  readonly #world: World;
  readonly #backing: Backing;
  readonly #byKey = new Map<string, Set<Belief>>();
  readonly #byProcess = new Map<Process, Set<Belief>>();
  #ended: Belief[] = [];

  constructor(world: World, backing: Backing) {
    this.#world = world;
    this.#backing = backing;
  }

  /** A client got a lease, just now. */
  adopt(process: Process, lease: Lease, keys: readonly string[]): Belief {
    const belief = newBelief(process, lease, keys, this.#world.nowMs);
    for (const key of keys) setOf(this.#byKey, key).add(belief);
    setOf(this.#byProcess, process).add(belief);
    this.refresh(belief);
    if (!belief.isOver) this.#check(belief);
    return belief;
  }

  /** The beliefs of a process that are not over. */
  of(process: Process): ReadonlySet<Belief> {
    return this.#byProcess.get(process) ?? NONE;
  }

  /** The beliefs in one key. */
  on(key: string): ReadonlySet<Belief> {
    return this.#byKey.get(key) ?? NONE;
  }

  /** Whether a process holds one of these keys, or has not noticed yet that its time is up. */
  holds(process: Process, keys: readonly string[]): boolean {
    for (const belief of this.of(process)) {
      if (belief.keys.some((key) => keys.includes(key))) return true;
    }
    return false;
  }

  /** Code of a process has run, or its clocks were changed: looks at its leases again. */
  reconsider(process: Process): void {
    for (const belief of this.of(process)) this.refresh(belief);
  }

  /** A process has ended: it believes nothing any more. */
  forget(process: Process): void {
    for (const belief of this.of(process)) {
      this.#check(belief);
      this.#end(belief);
    }
  }

  /** All is over. */
  forgetAll(): void {
    this.#byKey.clear();
    this.#byProcess.clear();
    this.#ended = [];
  }

  /** The beliefs that have ended since the last time. */
  takeEnded(): readonly Belief[] {
    const ended = this.#ended;
    if (ended.length > 0) this.#ended = [];
    return ended;
  }

  /** Keys are about to change on a node, or have changed. */
  check(keys: readonly string[]): void {
    for (const key of keys) {
      for (const belief of this.#byKey.get(key) ?? NONE) this.#check(belief);
    }
  }

  /** So many nodes said that the keys are gone that no quorum can hold them: the lease must be lost by now. */
  expectLost(process: Process, token: string): void {
    for (const belief of this.of(process)) {
      if (belief.lease.token !== token || belief.untilMs <= this.#world.nowMs) continue;
      this.#violate(belief, "loss", "goes on although its keys are gone from too many nodes");
    }
  }

  /** Until when a process believes in its lease, in true time. */
  untilMs(process: Process, token: string): number {
    const belief = Array.from(this.of(process)).find(({ lease }) => lease.token === token);
    return belief?.untilMs ?? -Infinity;
  }

  /** A lease is told of its loss; if its time was up, in time. */
  toldOfLoss(belief: Belief): void {
    const { nowMs } = this.#world;
    if (belief.untilMs > nowMs || nowMs < lossDueMs(belief)) return;
    // Closing has told it already.
    if (belief.process.endedMs < nowMs) return;
    this.#violate(belief, "deadline", "was told too late that it is lost");
  }

  /** The holder's own code just saw `isHeld()`. */
  seenHeld(belief: Belief): void {
    const { nowMs } = this.#world;
    this.refresh(belief);
    if (belief.isOver || belief.untilMs < nowMs)
      this.#violate(belief, "deadline", "is held past its deadline");
  }

  /** Reads the lease's deadlines with its clocks held still, so that reading changes nothing. */
  refresh(belief: Belief): void {
    const { process, lease } = belief;
    const { clock } = process;
    const read = (): number => lease.remainingMs();
    const monotonicMs = clock.probe(0, -Infinity, read);
    const wallMs = monotonicMs > 0 ? clock.probe(-Infinity, 0, read) : 0;
    if (wallMs <= 0) {
      this.#check(belief);
      this.#end(belief);
      return;
    }
    belief.timerMs = clock.trueOfMonotonicMs(monotonicMs);
    const wasMs = belief.untilMs;
    // Where a jump of the wall clock ends it, it ends now.
    const byWallMs = Math.max(clock.trueOfWallMs(wallMs), Math.min(wasMs, this.#world.nowMs));
    const untilMs = Math.min(belief.timerMs, byWallMs);
    const isShorter = untilMs < wasMs - 0.01 && wasMs > this.#world.nowMs;
    // In a turn of its own the process' clocks have not changed: its code made it shorter.
    if (isShorter && this.#world.turn === process) {
      this.#violate(belief, "deadline", "got an earlier deadline");
    }
    if (Math.abs(untilMs - wasMs) > 1e-3) {
      if (wasMs !== -Infinity) this.#check(belief);
      belief.untilMs = untilMs;
      belief.isSettled = false;
      this.#findOverlap(belief);
    }
    this.#expectLoss(belief);
  }

  /** A lease whose deadline has passed must know it by now. */
  #expectLoss(belief: Belief): void {
    const { nowMs, turn } = this.#world;
    if (belief.untilMs > nowMs || turn !== belief.process) return;
    if (nowMs < lossDueMs(belief) || belief.lease.signal.aborted) return;
    this.#violate(belief, "deadline", "was not told that it is lost");
  }

  #check(belief: Belief): void {
    const { nowMs } = this.#world;
    const atMs = Math.min(nowMs, belief.untilMs);
    if (!belief.isSettled && belief.fromMs <= atMs) {
      belief.isSettled = nowMs >= belief.untilMs;
      const count = this.#backing.countAt(belief, atMs);
      const { quorum } = this.#backing;
      if (count < quorum) {
        const message = `is believed in while ${count} nodes hold it, ${quorum} needed`;
        this.#violate(belief, "backing", message);
      }
    }
    if (belief.dipMs === undefined) this.#backing.noteDip(belief);
  }

  #findOverlap(belief: Belief): void {
    const { nowMs } = this.#world;
    if (belief.untilMs <= nowMs) return;
    for (const key of belief.keys) {
      for (const other of this.#byKey.get(key) ?? NONE) {
        if (other === belief || other.untilMs <= nowMs) continue;
        if (this.#backing.isExcused(key, belief, other)) continue;
        if (this.#backing.isExcused(key, other, belief)) continue;
        this.#violate(belief, "exclusion", `is believed in, and so is ${nameOf(other)}`);
      }
    }
  }

  #violate(belief: Belief, invariant: string, message: string): void {
    report(this.#world, belief, invariant, message);
  }

  #end(belief: Belief): void {
    belief.isOver = true;
    this.#ended.push(belief);
    for (const key of belief.keys) setOf(this.#byKey, key).delete(belief);
    this.#byProcess.get(belief.process)?.delete(belief);
  }
}

const NONE: ReadonlySet<Belief> = new Set();

function setOf<Key>(sets: Map<Key, Set<Belief>>, key: Key): Set<Belief> {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  return set;
}
