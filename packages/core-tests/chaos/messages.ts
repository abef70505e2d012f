/** How a client breaks the rules, to see that the run notices. */
export type Broken = "no-lease" | "overstays";

/** What a client process is told. */
export interface Told {
  readonly client: number;
  readonly urls: readonly string[];
  readonly guardPort: number;
  readonly tasks: number;
  readonly ttlMs: number;
  readonly nodeTimeoutMs: number;
  readonly seed: number;
  readonly broken?: Broken | undefined;
}

/** A lease as its holder sees it at an entry. */
export interface Visit {
  readonly token: string;
  readonly resources: readonly string[];
  readonly deadlineMs: number;
  readonly held: boolean;
}

/** Until when the holder believed its lease, told when it leaves. */
export interface Leaving {
  readonly deadlineMs: number;
  readonly held: boolean;
  /** When it learned that the lease was lost, if it did. */
  readonly lostMs?: number | undefined;
}

/** A round that won: when it began and when the client had its lease. */
export interface Won {
  readonly roundMs: number;
  readonly acquiredMs: number;
}

/** A client's lines to the guard, one JSON each. `enter` and `leave` are answered with their id. */
export type ToGuard =
  | ({ readonly type: "enter"; readonly id: number } & Visit)
  | ({ readonly type: "leave"; readonly id: number; readonly entry: number } & Leaving)
  | ({ readonly type: "acquired" } & Won);

/** The guard's lines to a client. */
export type FromGuard = { readonly type: "done"; readonly id: number } | { readonly type: "stop" };

/** What a client process says at its end, as one line of JSON. */
export interface ClientReport {
  readonly acquisitions: number;
  /** By error code: acquisitions that were refused, and leases found to be lost right before an entry. */
  readonly refused: Readonly<Record<string, number>>;
  /** Releases by outcome. */
  readonly releases: Readonly<Record<string, number>>;
  /** The longest wait of a lease, in milliseconds. */
  readonly longestWaitMs: number;
  /** By how much a call exceeded its bound at most, the process' own pauses aside. */
  readonly overrunMs: number;
  /** Errors that no documentation promises. */
  readonly unexpected: readonly string[];
}
