import { isRedlockError, type Lease } from "@redlatch/core";
import type { Attempt } from "./attempts.ts";
import type { Belief } from "./beliefs.ts";
import type { Message } from "./message.ts";
import type { Process } from "./process.ts";
import type { ClientSettings } from "./settings.ts";
import type { World } from "./world.ts";

/** What was asked for with a lease. */
export interface Terms {
  readonly autoExtend: boolean;
  readonly minHoldMs: number;
  readonly maxHoldMs: number;
}

/** Judges whether leases live as they were asked to: not too short, not too long, and extended in between. */
export class LeaseTerms {
  readonly #world: World;
  readonly #settings: ClientSettings;

  constructor(world: World, settings: ClientSettings) {
    this.#world = world;
    this.#settings = settings;
  }

  /** An extension is sent; `asked`: by a call of the holder. */
  extends(attempt: Attempt, message: Message, asked: boolean): void {
    // The text after an unknown script is part of a round that was seen before.
    if (message.command[0] === "EVAL") return;
    const ttlMs = Number(message.command.at(-1));
    if (!asked && attempt.askedTtlMs !== undefined && ttlMs !== attempt.askedTtlMs) {
      this.#violate(
        attempt,
        `is extended to ${ttlMs} ms, ${attempt.askedTtlMs} ms were asked for last`,
      );
    }
    attempt.askedTtlMs = ttlMs;
    const { terms, owner } = attempt;
    if (asked || !terms) return;
    const heldMs = owner.clock.monotonicNowMs() - attempt.heldSinceMs;
    if (heldMs > terms.maxHoldMs + 1) {
      this.#violate(
        attempt,
        `is extended after ${shown(heldMs)}, maxHoldMs is ${shown(terms.maxHoldMs)}`,
      );
    }
  }

  /** A node has executed a release that deletes. */
  deleted({ terms, token, startedMs, isHeldAtRelease }: Attempt): void {
    if (!terms || !isHeldAtRelease) return;
    const leastMs = startedMs + terms.minHoldMs * 0.95 - 1;
    if (this.#world.nowMs >= leastMs) return;
    const message = `${token} is deleted at ${shown(this.#world.nowMs)}, it is to stand until ${shown(leastMs)}`;
    this.#world.violate("terms", message);
  }

  /** A lease has come to its deadline: it must not, where it is extended automatically and all is well. */
  ranOut(process: Process, lease: Lease, belief: Belief, attempt: Attempt | undefined): void {
    if (!attempt?.terms?.autoExtend || !isRedlockError(lease.signal.reason, "LEASE_LOST")) return;
    const { nowMs } = this.#world;
    // One slow answer per round leaves too little time for more rounds.
    if (this.#settings.nodeTimeoutMs > 0.12 * (attempt.askedTtlMs ?? 0)) return;
    const overdueMs = nowMs - this.#settings.nodeTimeoutMs;
    for (const { sentAtMs } of attempt.underWay.keys()) if (sentAtMs < overdueMs) return;
    const longMs = 3 * (attempt.askedTtlMs ?? this.#settings.ttlMs);
    const quietSinceMs = Math.max(
      ...attempt.troubles.values(),
      process.lastStillEndMs,
      process.lastJumpMs,
      belief.lastDipMs,
      belief.fromMs - longMs,
    );
    const heldMs = process.clock.monotonicNowMs() - attempt.heldSinceMs;
    if (nowMs - quietSinceMs < longMs || heldMs >= attempt.terms.maxHoldMs) return;
    this.#violate(attempt, "ran out, though it is extended automatically and all was well");
  }

  #violate({ owner, token }: Attempt, message: string): void {
    this.#world.violate("terms", `${owner.id}'s lease ${token} ${message}`);
  }
}

const shown = (ms: number): string => `${ms.toFixed(2)} ms`;
