import { isRedlockError, type RedlockEvents, type ReleaseOutcome } from "@redlatch/core";
import type { Attempt } from "./attempts.ts";
import type { Operation } from "./operations.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** Judges whether events, results and errors agree with each other and with what the nodes answered. */
export class Agreement {
  readonly #world: World;
  readonly #nodes: number;
  readonly #quorum: number;
  readonly #limitMs: number;
  /** What a process' events tell minus what its calls gave, in the turn that runs. */
  readonly #balance = new Map<string, number>();

  constructor(world: World, nodes: number, quorum: number, limitMs: number) {
    this.#world = world;
    this.#nodes = nodes;
    this.#quorum = quorum;
    this.#limitMs = limitMs;
  }

  /** An event told of something that a result tells too. */
  told(what: string, resources: readonly string[]): void {
    this.#count(`${what} ${resources.join("+")}`, 1);
  }

  /** A result told of something that an event tells too. */
  gave(what: string, resources: readonly string[]): void {
    this.#count(`${what} ${resources.join("+")}`, -1);
  }

  /** Event and result come in the same turn. */
  turnEnded(process: Process): void {
    if (this.#balance.size === 0) return;
    for (const [what, count] of this.#balance) {
      // Automatic extension and the release at the end of `using` have events only.
      if (count < 0 || what.startsWith("acquired")) {
        const message = `${process.id}: ${Math.abs(count)} ${count < 0 ? "results without event" : "events without result"}: ${what}`;
        this.#world.violate("agreement", message);
      }
    }
    this.#balance.clear();
  }

  /** A call of acquire or tryAcquire ended with an error: is it the right one? */
  failed({ process, lastAttempt }: Operation, error: unknown): void {
    if (!lastAttempt) return;
    const { size: answered } = lastAttempt.answered;
    const quorum = this.#quorum;
    if (isRedlockError(error, "RESOURCE_HELD") && answered < quorum) {
      this.#violate(process, `says held, but ${answered} nodes answered ${lastAttempt.token}`);
    }
    const isHeld = error === null || isRedlockError(error, "RESOURCE_HELD");
    if (isHeld && lastAttempt.verdict === "won") {
      this.#violate(process, `says held, but ${lastAttempt.token} won its round`);
    }
    if (!isRedlockError(error, "QUORUM_UNREACHABLE") || error.cause) return;
    const isOverdue = this.#world.nowMs >= lastAttempt.startedMs + this.#limitMs * 0.9;
    const failed = isOverdue ? this.#nodes - answered : failedNodes(lastAttempt);
    if (failed <= this.#nodes - quorum) {
      this.#violate(process, `says unreachable, but ${failed} nodes failed ${lastAttempt.token}`);
    }
  }

  released(process: Process, attempt: Attempt | undefined, outcome: ReleaseOutcome): void {
    if (!attempt) return;
    const yes = attempt.deletedBy.size;
    const no = attempt.missingOn.size;
    if (outcome === "released" && yes < this.#quorum) {
      this.#violate(process, `released ${attempt.token}, but ${yes} nodes said so`);
    }
    if (outcome === "expired" && no <= this.#nodes - this.#quorum) {
      this.#violate(process, `says ${attempt.token} had expired, but ${no} nodes said so`);
    }
  }

  lost(process: Process, { resources, error }: RedlockEvents["lost"]): void {
    if (isRedlockError(error, "LEASE_LOST")) return;
    this.#violate(process, `lost ${resources.join("+")} with ${String(error)}`);
  }

  #count(what: string, by: number): void {
    const count = (this.#balance.get(what) ?? 0) + by;
    if (count === 0) this.#balance.delete(what);
    else this.#balance.set(what, count);
  }

  #violate(process: Process, message: string): void {
    this.#world.violate("agreement", `${process.id} ${message}`);
  }
}

/** Nodes that failed, or were not asked since they had failed the undo of the attempt before. */
function failedNodes({ errors, before, answered }: Attempt): number {
  const failed = new Set(errors);
  for (const [node, sentMs] of before?.undo ?? []) {
    const hasFailed = sentMs > -Infinity || before?.undoErrors.has(node);
    if (hasFailed && !answered.has(node)) failed.add(node);
  }
  return failed.size;
}
