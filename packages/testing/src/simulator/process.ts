import type { Random } from "@redlatch/core";
import { ClientClock, type ClockTraits } from "./client-clock.ts";
import type { Chance } from "./random.ts";
import type { Turns, World } from "./world.ts";

interface Delivery {
  readonly isTimer: boolean;
  readonly run: () => void;
}

/** A client's operating-system process: it runs in turns, can stand still, and can end. */
export class Process implements Turns {
  readonly id: string;
  readonly clock: ClientClock;
  readonly random: Random;
  /** Called after each turn. */
  onTurnEnd: () => void = () => {};
  readonly #world: World;
  readonly #tokens = new Map<string, number>();
  #state: "running" | "still" | "ended" = "running";
  #backlog: Delivery[] = [];
  #stillSinceMs = 0;
  #stillMs = 0;
  #lastStillEndMs = 0;
  /** When its wall clock last jumped, in true time. */
  lastJumpMs: number = -Infinity;
  #endedMs = Infinity;

  constructor(world: World, id: string, traits: ClockTraits, chance: Chance) {
    this.#world = world;
    this.id = id;
    this.clock = new ClientClock(world, traits, {
      touch: () => this.touch(),
      fire: (run) => this.#deliver({ isTimer: true, run }),
      latenessMs: () => chance.uniform() * MAX_LATENESS_MS,
    });
    let tokens = 0;
    this.random = {
      uniform: () => chance.uniform(),
      token: () => {
        const token = `${id}-${++tokens}`;
        this.#tokens.set(token, world.nowMs);
        return token;
      },
    };
  }

  get state(): "running" | "still" | "ended" {
    return this.#state;
  }

  /** When it last came back from standing still, in true time. */
  get lastStillEndMs(): number {
    return this.#state === "still" ? Infinity : this.#lastStillEndMs;
  }

  /** When it ended or let go of all its locks, in true time; Infinity while it goes on. */
  get endedMs(): number {
    return this.#endedMs;
  }

  /** How long its code could run so far, in milliseconds of its monotonic clock. */
  get ranMs(): number {
    const now = this.clock.monotonicNowMs();
    return now - this.#stillMs - (this.#state === "still" ? now - this.#stillSinceMs : 0);
  }

  /** When the process drew a token. */
  drewMs(token: string): number | undefined {
    return this.#tokens.get(token);
  }

  /** Notes that code of this process runs. */
  touch(): void {
    this.#world.touch(this);
  }

  /** Runs something in a turn: now, or once the process runs again. */
  deliver(run: () => void): void {
    this.#deliver({ isTimer: false, run });
  }

  /** Stands still: nothing is run, everything waits. */
  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "still";
    this.#stillSinceMs = this.clock.monotonicNowMs();
    this.#world.log(this.id, "stands still");
  }

  /** Goes on: what waited is run, timers first as in an event loop, or replies first. */
  resume(repliesFirst = false): void {
    if (this.#state !== "still") return;
    this.#state = "running";
    this.#lastStillEndMs = this.#world.nowMs;
    this.#stillMs += this.clock.monotonicNowMs() - this.#stillSinceMs;
    this.#world.log(this.id, "goes on");
    const backlog = this.#backlog;
    this.#backlog = [];
    const isFirst = (delivery: Delivery): boolean => delivery.isTimer !== repliesFirst;
    const inOrder = [...backlog.filter(isFirst), ...backlog.filter((each) => !isFirst(each))];
    for (const delivery of inOrder) {
      this.#world.at(this.#world.nowMs, () => this.#deliver(delivery));
    }
  }

  /** Has closed its Redlock: nothing is done for its locks any more. */
  retire(): void {
    this.#endedMs = Math.min(this.#endedMs, this.#world.nowMs);
  }

  /** Ends for good. */
  end(): void {
    this.retire();
    this.#state = "ended";
    this.#backlog = [];
  }

  afterTurn(): void {
    this.onTurnEnd();
  }

  #deliver(delivery: Delivery): void {
    if (this.#state === "ended") return;
    if (this.#state === "still") this.#backlog.push(delivery);
    else this.#world.take(this, delivery.run);
  }
}

/** How late a timer is at most while nothing else is wrong. */
export const MAX_LATENESS_MS = 0.5;
