import type { Mutation } from "../mutation.ts";

/** What tells a holder that its lease has ended. */
export const LOSING: readonly Mutation[] = [
  {
    name: "the local deadline",
    rule: "A lease counts as lost once its deadline has passed.",
    place: "Losing",
    violates: ["deadline"],
    file: "hold.ts",
    anchor: 'if (this.#state === "held" && this.#leftMs() <= 0) {',
    replacement: 'if (this.#state === "held" && this.#leftMs() === -Infinity) {',
  },
  {
    name: "loss for good",
    rule: "An expired lease never comes back to life.",
    place: "Extend: loss is final",
    violates: ["loss", "deadline"],
    file: "hold.ts",
    anchor: 'return this.#state === "held";\n  }',
    replacement:
      'return this.#leftMs() > 0 && this.#state !== "released" && this.#state !== "handed over";\n  }',
  },
  {
    name: "the monotonic clock",
    rule: "A lease counts as lost as soon as the monotonic clock says so (wall only).",
    place: "Losing: two clocks",
    violates: ["backing", "exclusion"],
    file: "validity.ts",
    anchor: "Math.min(deadline.monotonicMs - now.monotonicMs, deadline.wallMs - now.wallMs)",
    replacement: "deadline.wallMs - now.wallMs",
  },
  {
    name: "the wall clock",
    rule: "A lease counts as lost as soon as the wall clock says so (monotonic only).",
    place: "Losing: two clocks",
    violates: ["backing", "exclusion"],
    file: "validity.ts",
    anchor: "Math.min(deadline.monotonicMs - now.monotonicMs, deadline.wallMs - now.wallMs)",
    replacement: "deadline.monotonicMs - now.monotonicMs",
  },
  {
    name: "the timer at the deadline",
    rule: "The signal aborts at the deadline.",
    place: "Losing",
    violates: ["deadline"],
    file: "hold.ts",
    anchor: "Math.max(0, Math.min(WATCH_STEP_MS, this.#leftMs(), dueMs))",
    replacement: "Math.max(0, Math.min(WATCH_STEP_MS, dueMs))",
  },
  {
    name: "timers in steps",
    rule: "Timers step by at most 1 s, as after a sleep they are late by its length.",
    place: "Losing",
    violates: ["deadline"],
    file: "hold.ts",
    anchor: "const WATCH_STEP_MS = 1_000;",
    replacement: "const WATCH_STEP_MS = Infinity;",
  },
  {
    name: "the signal of a loss",
    rule: "The signal aborts at once when an extension learns of the loss.",
    place: "Losing",
    violates: ["loss"],
    file: "hold.ts",
    anchor: "this.cutoff.abort(error);",
    replacement: "",
  },
];
