/** What a worker is asked: simulate these seeds until one violates an invariant of interest. */
export interface Job {
  /** The build of the core; absent for the core as it is. */
  readonly core: string | undefined;
  /** Which invariants are of interest; absent for all of them. */
  readonly invariants: readonly string[] | undefined;
  readonly seeds: readonly number[];
}

/** A seed that violated an invariant. */
export interface Kill {
  readonly seed: number;
  readonly invariant: string;
  readonly message: string;
}

/** What came of a job. */
export interface Outcome {
  readonly kill: Kill | undefined;
  /** How many leases were handed out. */
  readonly acquisitions: number;
}
