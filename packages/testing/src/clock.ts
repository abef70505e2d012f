/** What the memory node reads of a clock: the part of the core's `Clock` that Redis has. */
export interface WallClock {
  /** Wall-clock time in milliseconds since the epoch. */
  wallMs(): number;
}

/** The machine's clock, read at call time, so that users' fake timers work. */
export const systemWallClock: WallClock = { wallMs: () => Date.now() };
