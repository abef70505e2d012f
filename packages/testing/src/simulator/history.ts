/** One line of a history: when (true time), who (`c1`, `n2`, `plan`, `!`), what, and details. */
export type HistoryEntry = readonly [
  atMs: number,
  who: string,
  what: string,
  ...details: (string | number)[],
];

/** A promise of the library that was broken. */
export interface Violation {
  /** Which one, e.g. `exclusion`. */
  readonly invariant: string;
  readonly message: string;
  /** When, in milliseconds of true time. */
  readonly atMs: number;
}
