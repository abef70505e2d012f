import type { Claim } from "./claim.ts";
import { type Instant, instantOf } from "./clock.ts";
import type { Context } from "./context.ts";
import { Cutoff } from "./cutoff.ts";
import { LeaseLostError, type RedlockError } from "./errors.ts";
import type { ReleaseOutcome } from "./events.ts";
import { EXTEND_AT, keepAlive, nextExtensionMs } from "./keep-alive.ts";
import { Ticket } from "./local-queue.ts";
import type { Settings } from "./options.ts";
import { majorityOf } from "./tally.ts";
import { laterOf, remainingMs, surelyElapsedMs } from "./validity.ts";
import type { Vote } from "./vote.ts";

/** What a won round (or a restored handle) says about a lease. */
export interface Grant {
  readonly resources: readonly string[];
  readonly token: string;
  readonly owner: string | undefined;
  readonly ttlMs: number;
  readonly deadline: Instant;
  /** When holding began; it may have been in another process. */
  readonly heldSince: Instant;
  readonly claim: Claim;
  readonly votes: () => readonly Vote[];
}

type State = "held" | "released" | "lost" | "handed over";

/** What a majority's answer to "was it still ours?" says about a release. */
export const RELEASED = { yes: "released", no: "expired", unknown: "unreachable" } as const;

/** Timers are late by the length of a suspend: none is longer than this, so that a loss shows soon. */
const WATCH_STEP_MS = 1_000;

/**
 * The state behind a Lease: whether it is held, until when, and its one timer. Apart from the Lease, so
 * that timers keep only this alive and a forgotten Lease can be noticed.
 */
export class Hold {
  readonly grant: Grant;
  readonly settings: Settings;
  readonly context: Context;
  /** Tells the holder to stop. */
  readonly cutoff: Cutoff = new Cutoff();
  /** The last TTL asked for, in milliseconds: what automatic extension goes on asking for. */
  ttlMs: number;
  deadline: Instant;
  /** Whether automatic extension (still) runs. */
  autoExtend: boolean;
  /** By the monotonic clock. */
  extendAtMs: number;
  #state: State = "held";
  /** Why the lease was lost, if it was. */
  loss: RedlockError | undefined;
  #cancelTimer: (() => void) | undefined;
  #extension: Promise<unknown> = Promise.resolve();
  #release: Promise<ReleaseOutcome> | undefined;
  readonly #ticket: Ticket;

  constructor(context: Context, settings: Settings, grant: Grant, ticket?: Ticket) {
    this.context = context;
    this.settings = settings;
    this.grant = grant;
    this.ttlMs = grant.ttlMs;
    this.deadline = grant.deadline;
    this.autoExtend = settings.autoExtend;
    this.extendAtMs = this.#clock.monotonicMs() + Math.min(this.ttlMs, this.#leftMs()) * EXTEND_AT;
    this.#ticket = ticket ?? new Ticket(grant.resources);
    this.#ticket.localSinceMs ??= this.#clock.monotonicMs();
    context.queue.hold(this.#ticket, this);
    context.holds.add(this);
    this.schedule();
  }

  /** Whether the lease is ours by both clocks. Finding it expired makes the loss final. */
  isHeld(): boolean {
    if (this.#state === "held" && this.#leftMs() <= 0) {
      this.lose(new LeaseLostError(this.grant.resources, "lost: its deadline has passed"));
    }
    return this.#state === "held";
  }

  /** How long the lease lasts, in milliseconds; 0 once it is not ours. */
  remainingMs(): number {
    return this.isHeld() ? this.#leftMs() : 0;
  }

  /** Why the lease is not held (any more). */
  whyNotHeld(): RedlockError {
    return this.loss ?? new LeaseLostError(this.grant.resources, this.#state);
  }

  /** For good: whatever comes later, this lease does not come back. */
  lose(error: RedlockError): void {
    if (this.#state !== "held") return;
    this.loss = error;
    this.#end("lost");
    this.cutoff.abort(error);
    this.grant.claim.release();
    this.context.quorum.events.emit("lost", { resources: this.grant.resources, error });
  }

  /** An extension that started at `from` won a majority. */
  renew(deadline: Instant): void {
    const before = this.deadline;
    this.deadline = laterOf(before, deadline, instantOf(this.#clock));
    if (this.deadline === before) return;
    const { resources } = this.grant;
    this.context.quorum.events.emit("extended", { resources, remainingMs: this.#leftMs() });
    this.schedule();
  }

  /** One extension at a time: waits for the one in flight. */
  exclusively<Value>(extension: () => Promise<Value>): Promise<Value> {
    const turn = this.#extension.then(extension);
    this.#extension = turn.catch(() => {});
    return turn;
  }

  /** Releases once; further calls get the same answer. Never rejects. */
  release(): Promise<ReleaseOutcome> {
    this.#release ??= this.#state === "handed over" ? Promise.resolve("expired") : this.#give();
    return this.#release;
  }

  /** From now on the lease is another process'. */
  handOver(): void {
    if (!this.isHeld()) throw this.whyNotHeld();
    this.#end("handed over");
  }

  /** Ends automatic extension; the lease lasts until its deadline. */
  stopExtending(): void {
    this.autoExtend = false;
    this.schedule();
  }

  /** The Lease was garbage-collected. */
  abandon(): void {
    if (!this.isHeld()) return;
    this.stopExtending();
    this.context.quorum.events.emit("unreleased", { resources: this.grant.resources });
  }

  /** (Re)starts the one timer: for the deadline and for the next extension. */
  schedule(): void {
    this.stopTimer();
    if (!this.isHeld() || this.context.quorum.closed) return;
    const dueMs = this.autoExtend ? nextExtensionMs(this) : WATCH_STEP_MS;
    const stepMs = Math.max(0, Math.min(WATCH_STEP_MS, this.#leftMs(), dueMs));
    this.#cancelTimer = this.#clock.after(stepMs, () => this.#tick(), true);
  }

  stopTimer(): void {
    this.#cancelTimer?.();
  }

  #tick(): void {
    if (this.isHeld() && this.autoExtend && nextExtensionMs(this) <= 0) keepAlive(this);
    this.schedule();
  }

  async #give(): Promise<ReleaseOutcome> {
    const { claim, resources, heldSince } = this.grant;
    const heldMs = surelyElapsedMs(heldSince, instantOf(this.#clock));
    let standMs = 0;
    if (this.isHeld()) {
      this.#state = "released";
      standMs = Math.max(0, this.settings.minHoldMs - heldMs);
    }
    this.stopTimer();
    const outcome = RELEASED[await claim.release(standMs).until(majorityOf)];
    this.#end(this.#state);
    this.context.quorum.events.emit("released", { resources, outcome });
    return outcome;
  }

  #end(state: State): void {
    this.#state = state;
    this.stopTimer();
    this.context.holds.delete(this);
    this.context.queue.leave(this.#ticket);
  }

  #leftMs(): number {
    return remainingMs(this.deadline, instantOf(this.#clock));
  }

  get #clock() {
    return this.context.quorum.clock;
  }
}
