import { quorumOf } from "./tally.ts";
import type { Vote } from "./vote.ts";

/** Stable codes, one for each class of error. */
export type RedlockErrorCode =
  | "RESOURCE_HELD"
  | "QUORUM_UNREACHABLE"
  | "LEASE_LOST"
  | "HOLD_LIMIT"
  | "CLOSED";

/** What every error of this package is. Test for it with {@link isRedlockError}. */
export abstract class RedlockError extends Error {
  abstract readonly code: RedlockErrorCode;
  /** The resources the call was about. */
  readonly resources: readonly string[];
  /** What each node had to say, as far as it was known. */
  readonly votes: readonly Vote[];
  /** Marks errors of this package across its copies, where `instanceof` fails. */
  readonly isRedlockError: true = true;

  constructor(
    message: string,
    resources: readonly string[],
    votes: readonly Vote[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.resources = resources;
    this.votes = votes;
  }
}

/**
 * A quorum answered, and no quorum was free: somebody else holds the resource, or attempts split the votes.
 * Also when the wait in this process' own queue ran out.
 */
export class ResourceHeldError extends RedlockError {
  override readonly name = "ResourceHeldError";
  override readonly code = "RESOURCE_HELD";
  /** How long the holder's keys still live, in milliseconds, where known. An estimate, not a promise. */
  readonly remainingMs: number | undefined;
  /** The holder's label, where known. */
  readonly owner: string | undefined;

  constructor(
    resources: readonly string[],
    votes?: readonly Vote[],
    holder: { remainingMs?: number | undefined; owner?: string | undefined } = {},
  ) {
    const { remainingMs, owner } = holder;
    const by = owner === undefined ? "" : ` by ${owner}`;
    const left = remainingMs === undefined ? "" : ` for another ${Math.ceil(remainingMs)} ms`;
    const state = by || left ? "held" : "held, or its votes are split";
    super(`${namesOf(resources)} is ${state}${by}${left}`, resources, votes);
    this.remainingMs = remainingMs;
    this.owner = owner;
  }
}

/** Too few nodes answered in time, or they answered too slowly for any validity. `votes` has each node's cause. */
export class QuorumUnreachableError extends RedlockError {
  override readonly name = "QuorumUnreachableError";
  override readonly code = "QUORUM_UNREACHABLE";

  constructor(
    resources: readonly string[],
    votes: readonly Vote[],
    nodes: number,
    options?: ErrorOptions,
  ) {
    const causes = votes.flatMap((vote) =>
      vote.outcome === "failed" ? `; ${vote.node}: ${vote.cause.message}` : [],
    );
    const slow = options ? `; ${(options.cause as Error).message}` : "";
    // A node that has not voted yet has not answered either.
    const answered = `${votes.length - causes.length} of ${nodes} nodes answered, ${quorumOf(nodes)} needed`;
    const message = `no quorum for ${namesOf(resources)}: ${answered}${slow}${causes.join("")}`;
    super(message, resources, votes, options);
  }
}

/** The deadline passed, or the keys are no longer ours. Final: a lost lease never comes back. */
export class LeaseLostError extends RedlockError {
  override readonly name = "LeaseLostError";
  override readonly code = "LEASE_LOST";

  constructor(resources: readonly string[], why: string, votes?: readonly Vote[]) {
    super(`the lease on ${namesOf(resources)} was ${why}`, resources, votes);
  }
}

/** Automatic extension ended at `maxHoldMs`; the lease runs out at its deadline. */
export class HoldLimitError extends RedlockError {
  override readonly name = "HoldLimitError";
  override readonly code = "HOLD_LIMIT";

  constructor(resources: readonly string[], maxHoldMs: number) {
    super(`the lease on ${namesOf(resources)} reached maxHoldMs (${maxHoldMs} ms)`, resources);
  }
}

/** `close()` was called on the Redlock. */
export class RedlockClosedError extends RedlockError {
  override readonly name = "RedlockClosedError";
  override readonly code = "CLOSED";

  constructor(resources: readonly string[] = []) {
    super("this Redlock was closed", resources);
  }
}

interface ErrorByCode {
  RESOURCE_HELD: ResourceHeldError;
  QUORUM_UNREACHABLE: QuorumUnreachableError;
  LEASE_LOST: LeaseLostError;
  HOLD_LIMIT: HoldLimitError;
  CLOSED: RedlockClosedError;
}

/**
 * Tells whether `error` is one of this package's, and of which code; right across copies of the package.
 *
 * @example
 * ```ts
 * import { isRedlockError, type Redlock } from "@redlatch/core";
 *
 * declare const redlock: Redlock;
 * try {
 *   await redlock.acquire("invoice:42", { waitMs: 0 });
 * } catch (error) {
 *   if (isRedlockError(error, "RESOURCE_HELD")) console.log("busy, free in", error.remainingMs);
 *   else throw error;
 * }
 * ```
 */
export function isRedlockError<Code extends RedlockErrorCode = RedlockErrorCode>(
  error: unknown,
  code?: Code,
): error is ErrorByCode[Code] {
  const candidate = error as Partial<RedlockError> | null | undefined;
  return candidate?.isRedlockError === true && (code === undefined || candidate.code === code);
}

const namesOf = (resources: readonly string[]): string =>
  resources.map((resource) => JSON.stringify(resource)).join(", ");
