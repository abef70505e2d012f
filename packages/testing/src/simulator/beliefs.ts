import type { Lease } from "@redlatch/core";
import type { Attempt, Attempts } from "./attempts.ts";
import { MAX_LATENESS_MS, type Process } from "./process.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { World } from "./world.ts";

/** A lease in the eyes of its holder. */
export interface Belief {
  readonly process: Process;
  readonly lease: Lease;
  readonly keys: readonly string[];
  readonly fromMs: number;
  /** Since when the lock has been passed on inside the process, from lease to lease. */
  localSinceMs: number;
  /** When its clocks will say that it is over, in true time. */
  untilMs: number;
  /** The same by the monotonic clock alone, which the lease's timer follows. */
  timerMs: number;
  /** When, since the last round won, fewer nodes than a quorum held the keys. */
  dipMs: number | undefined;
  /** When that was so for the last time, renewed or not. */
  lastDipMs: number;
  /** When its last renewal was heard of. */
  renewedMs: number;
  /** Until when, after the last renewal, nodes that had lost their keys were sent them again. */
  repairedUntilMs: number;
  /** The last extension that each node confirmed since the last round won. */
  readonly confirmed: Map<SimulatedNode, { readonly atMs: number; readonly sentAtMs: number }>;
  isOver: boolean;
  /** The moment of its end has been judged. */
  isSettled: boolean;
  isReported: boolean;
}

/** The core steps its timers by at most this, so that it sees a jump of the wall clock. */
const MAX_STEP_MS = 1_000;

/**
 * What clients believe to hold, judged by true time: one holder per resource, a quorum of nodes behind each,
 * and no renewal after the quorum was gone.
 */
export class Beliefs {
  readonly #world: World;
  readonly #nodes: readonly SimulatedNode[];
  readonly #quorum: number;
  readonly #limitMs: number;
  readonly #excusesLostData: boolean;
  readonly #byKey = new Map<string, Set<Belief>>();
  readonly #byProcess = new Map<Process, Set<Belief>>();

  constructor(
    world: World,
    nodes: readonly SimulatedNode[],
    quorum: number,
    limitMs: number,
    excusesLostData: boolean,
  ) {
    this.#world = world;
    this.#nodes = nodes;
    this.#quorum = quorum;
    this.#limitMs = limitMs;
    this.#excusesLostData = excusesLostData;
  }

  /** A client got a lease, just now. */
  adopt(process: Process, lease: Lease, keys: readonly string[]): Belief {
    const { nowMs } = this.#world;
    const belief: Belief = {
      process,
      lease,
      keys,
      fromMs: nowMs,
      localSinceMs: nowMs,
      untilMs: -Infinity,
      timerMs: -Infinity,
      dipMs: undefined,
      lastDipMs: -Infinity,
      renewedMs: -Infinity,
      repairedUntilMs: -Infinity,
      confirmed: new Map(),
      isOver: false,
      isSettled: false,
      isReported: false,
    };
    for (const key of keys) setOf(this.#byKey, key).add(belief);
    setOf(this.#byProcess, process).add(belief);
    this.#refresh(belief);
    if (!belief.isOver) this.#check(belief);
    return belief;
  }

  /** The beliefs of a process that are not over. */
  of(process: Process): ReadonlySet<Belief> {
    return this.#byProcess.get(process) ?? NONE;
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
    for (const belief of this.of(process)) this.#refresh(belief);
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
  }

  /** Keys are about to change on a node, or have changed. */
  check(keys: readonly string[]): void {
    for (const key of keys) {
      for (const belief of this.#byKey.get(key) ?? NONE) this.#check(belief);
    }
  }

  /** A node confirmed an extension. */
  confirm(node: SimulatedNode, token: string, keys: readonly string[]): void {
    const { nowMs } = this.#world;
    for (const belief of this.#byKey.get(keys[0] as string) ?? NONE) {
      if (belief.lease.token !== token) continue;
      const sent = belief.keys.map((key) => node.keys.find(key, nowMs)?.sentAtMs ?? Infinity);
      belief.confirmed.set(node, { atMs: nowMs, sentAtMs: Math.max(...sent) });
    }
  }

  /** An event says that a lease on these resources was renewed: which one, is for the simulator to find out. */
  renewed(process: Process, resources: readonly string[], attempts: Attempts): void {
    const { nowMs } = this.#world;
    const name = resources.join();
    const held = [...this.of(process)].filter(
      ({ lease, untilMs }) => lease.resources.join() === name && untilMs > nowMs,
    );
    if (held.length === 0) {
      const message = `${process.id} says that it extended ${name}, which it does not hold`;
      this.#world.violate("deadline", message);
    }
    // Where nodes lost data a process may believe in two of them.
    const [belief, ...others] = held.filter(({ lease, renewedMs }) => {
      const sentMs = attempts.get(lease.token)?.extension?.sentMs ?? -Infinity;
      return sentMs >= renewedMs;
    });
    if (belief && others.length === 0) this.renew(belief, attempts.get(belief.lease.token));
  }

  /**
   * A lease was renewed: by nodes that have held the keys since a quorum of them did, or were sent them again
   * after the renewal before.
   */
  renew(belief: Belief, attempt: Attempt | undefined): void {
    const { nowMs } = this.#world;
    const { dipMs, confirmed, process } = belief;
    // Told by an event and by a result.
    if (belief.renewedMs === nowMs) return;
    const sinceMs = Math.max(dipMs ?? Infinity, belief.repairedUntilMs);
    const unbroken = [...confirmed.values()].filter(
      ({ atMs, sentAtMs }) => dipMs === undefined || atMs < dipMs || sentAtMs <= sinceMs,
    );
    if (unbroken.length < this.#quorum) {
      const since = dipMs === undefined ? "" : `, a quorum had lost the keys at ${shown(dipMs)}`;
      const message = `${nameOf(belief)} renewed by ${unbroken.length} of ${this.#quorum} nodes${since}`;
      this.#world.violate("renewal", message);
    }
    const roundMs = Math.max(attempt?.extension?.sentMs ?? nowMs, process.lastStillEndMs);
    belief.renewedMs = nowMs;
    belief.repairedUntilMs = roundMs + this.#limitMs * 1.1 + 2;
    belief.dipMs = undefined;
    confirmed.clear();
    this.#refresh(belief);
  }

  /** So many nodes said that the keys are gone that no quorum can hold them: the lease must be lost by now. */
  expectLost(process: Process, token: string): void {
    for (const belief of this.of(process)) {
      if (belief.lease.token !== token || belief.untilMs <= this.#world.nowMs) continue;
      this.#violate(belief, "loss", "goes on although its keys are gone from too many nodes");
    }
  }

  /** The holder's own code just saw `isHeld()`. */
  seenHeld(belief: Belief): void {
    const { nowMs } = this.#world;
    this.#refresh(belief);
    if (belief.isOver || belief.untilMs < nowMs)
      this.#violate(belief, "deadline", "is held past its deadline");
  }

  /** How many nodes hold all keys of a belief, or would if they had lost nothing. */
  #backing({ keys, lease }: Belief, atMs: number): number {
    let count = 0;
    for (const node of this.#nodes) {
      const holds = this.#excusesLostData
        ? keys.every((key) => node.keys.shouldHold(key, lease.token, atMs))
        : this.#standing(node, keys, lease.token, atMs);
      if (holds) count++;
    }
    return count;
  }

  #standing(node: SimulatedNode, keys: readonly string[], token: string, atMs: number): boolean {
    return keys.every((key) => node.keys.find(key, atMs)?.token === token);
  }

  /** Reads the lease's deadlines with its clocks held still, so that reading changes nothing. */
  #refresh(belief: Belief): void {
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
    const { nowMs } = this.#world;
    const { process, lease, untilMs, timerMs } = belief;
    if (untilMs > nowMs || this.#world.turn !== process) return;
    const awakeMs = process.lastStillEndMs;
    const steppedMs = Math.max(untilMs, awakeMs) + MAX_STEP_MS;
    const dueMs = Math.max(Math.min(timerMs, steppedMs), awakeMs) + 2 + 2 * MAX_LATENESS_MS;
    if (nowMs < dueMs || lease.signal.aborted) return;
    this.#violate(belief, "deadline", "was not told that it is lost");
  }

  #check(belief: Belief): void {
    const { nowMs } = this.#world;
    const atMs = Math.min(nowMs, belief.untilMs);
    if (!belief.isSettled && belief.fromMs <= atMs) {
      belief.isSettled = nowMs >= belief.untilMs;
      const backing = this.#backing(belief, atMs);
      if (backing < this.#quorum) {
        this.#violate(
          belief,
          "backing",
          `is believed in while ${backing} nodes hold it, ${this.#quorum} needed`,
        );
      }
    }
    if (belief.dipMs === undefined) this.#noteDip(belief);
  }

  #noteDip(belief: Belief): void {
    const { nowMs } = this.#world;
    const { keys, lease } = belief;
    let standing = 0;
    for (const node of this.#nodes) {
      if (this.#standing(node, keys, lease.token, nowMs)) standing++;
    }
    if (standing >= this.#quorum) return;
    // By themselves keys go at a moment of their own: it was when the quorum's last one did.
    const goneMs = this.#nodes
      .map((node) => goneAtMs(node, keys, lease.token))
      .sort((a, b) => b - a);
    belief.lastDipMs = nowMs;
    const lastMs = goneMs[this.#quorum - 1] as number;
    belief.dipMs = lastMs === -Infinity ? nowMs : Math.min(nowMs, Math.max(belief.fromMs, lastMs));
  }

  #findOverlap(belief: Belief): void {
    const { nowMs } = this.#world;
    if (belief.untilMs <= nowMs) return;
    for (const key of belief.keys) {
      for (const other of this.#byKey.get(key) ?? NONE) {
        if (other === belief || other.untilMs <= nowMs) continue;
        if (this.#isExcused(key, belief, other) || this.#isExcused(key, other, belief)) continue;
        this.#violate(belief, "exclusion", `is believed in, and so is ${nameOf(other)}`);
      }
    }
  }

  /** Whether a lease was only won because nodes had lost the key of another. */
  #isExcused(key: string, belief: Belief, other: Belief): boolean {
    if (!this.#excusesLostData) return false;
    const { nowMs } = this.#world;
    const { token } = belief.lease;
    let tainted = 0;
    for (const node of this.#nodes) {
      const presence = node.keys.find(key, nowMs);
      if (presence?.token === token && presence.tainted.includes(other.lease.token)) tainted++;
    }
    return tainted > 0 && this.#backing(belief, nowMs) - tainted < this.#quorum;
  }

  #violate(belief: Belief, invariant: string, message: string): void {
    if (belief.isReported) return;
    belief.isReported = true;
    this.#world.violate(invariant, `${nameOf(belief)} ${message}`);
  }

  #end(belief: Belief): void {
    belief.isOver = true;
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

function goneAtMs(node: SimulatedNode, keys: readonly string[], token: string): number {
  const gone = keys.map((key) => {
    const presence = node.keys.last(key);
    return presence?.token === token ? presence.goneAtMs : -Infinity;
  });
  return Math.min(...gone);
}

const nameOf = ({ process, lease }: Belief): string =>
  `${process.id}'s lease ${lease.token} on ${lease.resources.join("+")}`;

const shown = (ms: number): string => `${ms.toFixed(2)} ms`;
