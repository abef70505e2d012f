import type { WallClock } from "../clock.ts";
import type { World } from "./world.ts";

/** A node's wall clock, by which its keys expire. */
export class NodeClock implements WallClock {
  readonly #world: World;
  #rate: number;
  #fromMs = 0;
  #wallFromMs: number;

  constructor(world: World, rate: number, wallAtStartMs: number) {
    this.#world = world;
    this.#rate = rate;
    this.#wallFromMs = wallAtStartMs;
  }

  wallMs(): number {
    return this.#wallFromMs + (this.#world.nowMs - this.#fromMs) * this.#rate;
  }

  /** When, in true time, a key that expires at `expiresAtMs` is gone: a key lives through its last millisecond. */
  goneAtMs(expiresAtMs: number): number {
    return this.#world.nowMs + (expiresAtMs + 1 - this.wallMs()) / this.#rate;
  }

  jump(byMs: number): void {
    this.#wallFromMs += byMs;
  }

  /** From now on it runs at another rate. */
  runAt(rate: number): void {
    this.#wallFromMs = this.wallMs();
    this.#fromMs = this.#world.nowMs;
    this.#rate = rate;
  }
}
