import type { Attempt } from "./attempts.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** What a client may be waiting for. */
export type OperationKind =
  | "acquire"
  | "tryAcquire"
  | "extend"
  | "release"
  | "late release"
  | "restore"
  | "close"
  | "using ends";

/** A call of the library and what its promise owes. */
export interface Operation {
  readonly kind: OperationKind;
  readonly process: Process;
  readonly keys: readonly string[];
  readonly startedMs: number;
  /** When it began, by the monotonic clock of its process. */
  readonly monotonicMs: number;
  /** How long it may take, in milliseconds in which the process runs. */
  boundMs: number;
  /** How long it may wait, by the monotonic clock. */
  readonly waitMs: number;
  /** Whether others of its process come first, and when that was last so. */
  isBlocked: boolean;
  blockedMs: number;
  /** Since when those before it have passed the lock on inside the process. */
  localSinceMs: number | undefined;
  /** Its process had the lock for so long that others may come in between, until then. */
  holdsBackUntilMs: number;
  /** How many attempts were made for it, and the last of them. */
  attempts: number;
  lastAttempt: Attempt | undefined;
  isSettled: boolean;
}

/** For timers that are late, and turns that take their time. */
export const SLACK_MS = 3;

/** Watches that every promise settles in time. */
export class Operations {
  readonly #world: World;
  readonly #open = new Set<Operation>();
  /** Those that are in a local queue, per process, oldest first. */
  readonly #queues = new Map<Process, Operation[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** How many calls wait for an answer. */
  get open(): number {
    return this.#open.size;
  }

  start(
    kind: OperationKind,
    process: Process,
    keys: readonly string[],
    boundMs: number,
    waitMs = 0,
  ): Operation {
    const startedMs = process.ranMs;
    const operation: Operation = {
      kind,
      process,
      keys,
      startedMs,
      monotonicMs: process.clock.monotonicNowMs(),
      boundMs: boundMs + SLACK_MS,
      waitMs,
      isBlocked: false,
      localSinceMs: undefined,
      holdsBackUntilMs: -Infinity,
      blockedMs: startedMs,
      attempts: 0,
      lastAttempt: undefined,
      isSettled: false,
    };
    this.#open.add(operation);
    if (kind === "acquire") {
      const queue = this.#queues.get(process);
      if (queue) queue.push(operation);
      else this.#queues.set(process, [operation]);
    }
    return operation;
  }

  /** Its promise settled. */
  settle(operation: Operation): void {
    operation.isSettled = true;
    this.#open.delete(operation);
    this.#expectInTime(operation);
  }

  /** The calls of a process that wait in its local queue, oldest first. */
  queueOf(process: Process): Operation[] {
    return this.#queues.get(process) ?? [];
  }

  /** Whether a call of a kind is open that uses one of the keys. */
  isOpen(kind: OperationKind, process: Process, keys: readonly string[]): boolean {
    for (const operation of this.#open) {
      if (operation.kind !== kind || operation.process !== process) continue;
      if (shareKey(operation.keys, keys)) return true;
    }
    return false;
  }

  /** Lets settled calls leave the local queue. */
  sweep(process: Process): void {
    const queue = this.#queues.get(process);
    if (!queue?.some(({ isSettled }) => isSettled)) return;
    this.#queues.set(
      process,
      queue.filter(({ isSettled }) => !isSettled),
    );
  }

  /** Those who wait have been told to stop: their promises settle now. */
  hurry(process: Process): void {
    for (const operation of this.#open) {
      const waits = operation.kind === "acquire" || operation.kind === "tryAcquire";
      if (operation.process !== process || !waits) continue;
      const boundMs = process.ranMs - operation.startedMs + SLACK_MS;
      operation.boundMs = Math.min(operation.boundMs, boundMs);
    }
  }

  /** A process has ended: nobody waits for its promises. */
  forget(process: Process): void {
    for (const operation of this.#open) {
      if (operation.process === process) this.#open.delete(operation);
    }
    this.#queues.delete(process);
  }

  /** Whatever is open for too long has not settled in time, and maybe never will. */
  expectProgress(): void {
    for (const operation of this.#open) {
      if (this.#expectInTime(operation)) continue;
      this.#open.delete(operation);
    }
  }

  #expectInTime({ process, kind, keys, startedMs, boundMs }: Operation): boolean {
    const tookMs = process.ranMs - startedMs;
    if (tookMs <= boundMs) return true;
    const what = `${process.id}'s ${kind} of ${keys.join("+")}`;
    const bound = `${tookMs.toFixed(2)} ms, the bound is ${boundMs.toFixed(2)} ms`;
    this.#world.violate("bound", `${what} takes ${bound}`);
    return false;
  }
}

/** Whether two calls use a key in common. */
export const shareKey = (a: readonly string[], b: readonly string[]): boolean =>
  a.some((key) => b.includes(key));
