import type { Loss } from "./attempt.ts";
import { backoffMs } from "./backoff.ts";
import type { Context } from "./context.ts";
import { roundTimeoutOf, type Settings } from "./options.ts";
import type { Ear } from "./release-notices.ts";
import type { Waiting } from "./waiting.ts";

/** Competitors that a notice woke together are spread over at most so many rounds. */
const MAX_SPREAD = 32;

/** The pauses of one acquisition: until a release is heard of, at most as long as the backoff. */
export class Pauses {
  readonly #context: Context;
  readonly #settings: Settings;
  readonly #waiting: Waiting;
  readonly #resources: readonly string[];
  readonly #keys: readonly string[];
  #ear: Ear | undefined;
  /** Attempts since the last notice: so often the backoff has doubled. */
  #attempts = 0;
  /** Whether others may have been woken together with us. */
  #woken = false;

  constructor(
    context: Context,
    settings: Settings,
    resources: readonly string[],
    waiting: Waiting,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#resources = resources;
    this.#waiting = waiting;
    this.#keys = resources.map((resource) => settings.keyPrefix + resource);
    // Where somebody has waited lately a release during the first attempt is to be heard, too.
    if (context.notices.knows(this.#keys[0] as string)) this.#listen();
  }

  /** After an attempt that was lost: waits until another one is worth it. */
  async afterLoss({ holder, isHeld, roundMs }: Loss): Promise<void> {
    const { quorum } = this.#context;
    const settings = this.#settings;
    const ear = this.#listen();
    // What is beyond the limit was no round, but a suspended process or a clock that jumped.
    const limitMs = roundTimeoutOf(quorum.nodes, settings);
    const tookMs = Math.min(roundMs, limitMs);
    const uniform = settings.random.uniform();
    // Cut to the holder's remaining time where one holder denies at a whole quorum. (After a split vote nobody
    // holds: to sleep for the TTL of one of the losers would freeze everybody.)
    let delayMs = Math.min(
      backoffMs(settings, this.#attempts++, tookMs, uniform),
      (holder?.remainingMs ?? Infinity) + 1,
    );
    if (ear && this.#woken && isHeld && !holder) {
      // No notice comes of a vote that was split: whoever was woken together falls apart by chance.
      ear.spread = Math.min(MAX_SPREAD, ear.spread * 2 || 2);
      delayMs = Math.min(delayMs, tookMs * (2 + ear.spread * uniform));
    } else this.#woken = false;
    await this.#pause(delayMs, tookMs);
  }

  /** Lets others go first: the release that was just sent tells them and us. */
  async afterTurn(): Promise<void> {
    this.#listen();
    await this.#pause(this.#settings.retryDelayMs, 0);
  }

  /** No more pauses. `won`: the notices were not too many for us. */
  end(won: boolean): void {
    if (!this.#ear) return;
    if (won && this.#woken) this.#ear.spread *= 0.8;
    this.#ear.close();
  }

  async #pause(atMostMs: number, roundMs: number): Promise<void> {
    const ear = this.#ear;
    const waiting = this.#waiting;
    const delayMs = Math.min(atMostMs, waiting.leftMs());
    this.#context.quorum.events.emit("waiting", { resources: this.#resources, delayMs });
    const heard = await waiting.pause(delayMs, ear && ((wake) => ear.arm(wake)));
    ear?.disarm();
    if (!ear || !heard) return;
    this.#attempts = 0;
    this.#woken = true;
    const apartMs = roundMs * ear.spread * this.#settings.random.uniform();
    if (apartMs >= 1) await waiting.pause(Math.min(apartMs, waiting.leftMs()));
  }

  #listen(): Ear | undefined {
    const { notices } = this.#context;
    if (!this.#settings.wakeUp || notices.able === 0) return undefined;
    this.#ear ??= notices.listen(this.#keys);
    return this.#ear;
  }
}
