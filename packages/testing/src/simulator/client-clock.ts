import type { Clock } from "@redlatch/core";
import type { World } from "./world.ts";

/** How a client's clocks run. */
export interface ClockTraits {
  /** Client milliseconds per true millisecond. */
  readonly rate: number;
  readonly monotonicOffsetMs: number;
  readonly wallOffsetMs: number;
}

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** What the clock needs of the process it belongs to. */
export interface TimerHost {
  /** Called at each use of the clock. */
  touch(): void;
  /** Runs a timer's callback in a turn of its own, or later while the process stands still. */
  fire(callback: () => void): void;
  /** How late a timer is, in milliseconds. */
  latenessMs(): number;
}

/** A client's two clocks and its timers, which run by the monotonic one. */
export class ClientClock implements Clock {
  readonly #world: World;
  readonly #traits: ClockTraits;
  readonly #host: TimerHost;
  readonly #timers = new Set<Timer>();
  #suspendedAtMs: number | undefined;
  #suspendedMs = 0;
  #jumpedMs = 0;
  #probe: { readonly monotonicMs: number; readonly wallMs: number } | undefined;

  constructor(world: World, traits: ClockTraits, host: TimerHost) {
    this.#world = world;
    this.#traits = traits;
    this.#host = host;
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size;
  }

  monotonicMs(): number {
    if (this.#probe) return this.#probe.monotonicMs;
    this.#host.touch();
    return this.monotonicNowMs();
  }

  wallMs(): number {
    if (this.#probe) return this.#probe.wallMs;
    this.#host.touch();
    return this.wallNowMs();
  }

  after(delayMs: number, callback: () => void): () => void {
    this.#host.touch();
    const timer = { dueMs: this.monotonicNowMs() + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** The monotonic clock, read by the simulator. */
  monotonicNowMs(): number {
    const { rate, monotonicOffsetMs } = this.#traits;
    const ranMs = (this.#suspendedAtMs ?? this.#world.nowMs) - this.#suspendedMs;
    return monotonicOffsetMs + ranMs * rate;
  }

  /** The wall clock, read by the simulator. It runs on while the machine is suspended. */
  wallNowMs(): number {
    const { rate, wallOffsetMs } = this.#traits;
    return wallOffsetMs + this.#world.nowMs * rate + this.#jumpedMs;
  }

  /** When, in true time, a monotonic moment comes; never while suspended. */
  trueOfMonotonicMs(monotonicMs: number): number {
    if (this.#suspendedAtMs !== undefined) return Infinity;
    return this.#world.nowMs + (monotonicMs - this.monotonicNowMs()) / this.#traits.rate;
  }

  /** When, in true time, a moment of the wall clock comes. */
  trueOfWallMs(wallMs: number): number {
    return this.#world.nowMs + (wallMs - this.wallNowMs()) / this.#traits.rate;
  }

  /** Answers `read` as if it were another time, without a trace. */
  probe<Value>(monotonicMs: number, wallMs: number, read: () => Value): Value {
    this.#probe = { monotonicMs, wallMs };
    try {
      return read();
    } finally {
      this.#probe = undefined;
    }
  }

  jump(byMs: number): void {
    this.#jumpedMs += byMs;
  }

  /** The monotonic clock stands still. */
  suspend(): void {
    this.#suspendedAtMs ??= this.#world.nowMs;
  }

  resume(): void {
    if (this.#suspendedAtMs === undefined) return;
    this.#suspendedMs += this.#world.nowMs - this.#suspendedAtMs;
    this.#suspendedAtMs = undefined;
  }

  #arm(timer: Timer): void {
    const dueInMs = (timer.dueMs - this.monotonicNowMs()) / this.#traits.rate;
    this.#world.at(this.#world.nowMs + dueInMs + this.#host.latenessMs(), () => {
      if (this.#timers.has(timer)) this.#host.fire(() => this.#fire(timer));
    });
  }

  #fire(timer: Timer): void {
    if (!this.#timers.has(timer)) return;
    // It stood still meanwhile: not due yet.
    if (timer.dueMs - this.monotonicNowMs() > 1e-6) {
      this.#arm(timer);
      return;
    }
    this.#timers.delete(timer);
    timer.callback();
  }
}
