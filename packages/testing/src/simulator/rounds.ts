import type { RedlockEvents, Vote } from "@redlatch/core";
import type { Attempt } from "./attempts.ts";
import type { Beliefs } from "./beliefs.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** Judges what the answers of a turn oblige a client to do in the same turn: decide, undo, lose. */
export class Rounds {
  readonly #world: World;
  readonly #beliefs: Beliefs;
  readonly #quorum: number;
  readonly #limitMs: number;
  /** More nodes than this that say no make a quorum impossible. */
  readonly #tooMany: number;
  readonly #undecided = new Set<Attempt>();
  readonly #touched = new Set<Attempt>();

  constructor(world: World, beliefs: Beliefs, nodes: number, quorum: number, limitMs: number) {
    this.#world = world;
    this.#beliefs = beliefs;
    this.#quorum = quorum;
    this.#limitMs = limitMs;
    this.#tooMany = nodes - quorum;
  }

  /** The attempts whose verdict their sender does not know. */
  get undecided(): Iterable<Attempt> {
    return this.#undecided;
  }

  begin(attempt: Attempt): void {
    this.#undecided.add(attempt);
  }

  /** Its sender has given up on it: it is undone. */
  abandon(attempt: Attempt): void {
    this.#undecided.delete(attempt);
  }

  /** Something about it was heard in this turn. */
  touch(attempt: Attempt): void {
    this.#touched.add(attempt);
  }

  /** An event tells of a verdict: of which attempt, is for the simulator to find out. */
  decided(process: Process, event: RedlockEvents["attempt"], keys: readonly string[]): void {
    const name = keys.join();
    const candidates = [...this.#undecided].filter(
      (each) => each.process === process && each.keys.join() === name,
    );
    const { votes } = event;
    const [attempt, ...others] = candidates.filter(
      (each) => hasVotes(each, votes) && this.#mayHaveFailed(each, votes),
    );
    // Where several got the same votes, its undo tells which one was lost.
    if (!attempt || others.length > 0) return;
    this.#undecided.delete(attempt);
    attempt.roundMs = event.elapsedMs;
    attempt.verdict = event.verdict;
    this.#touched.add(attempt);
  }

  turnEnded(process: Process): void {
    for (const attempt of this.#touched) {
      this.#expectDecision(process, attempt);
      this.#expectUndo(process, attempt);
      const { extension, token } = attempt;
      const isGone = extension && extension.denied.size > this.#tooMany;
      if (isGone) this.#beliefs.expectLost(process, token);
    }
    this.#touched.clear();
  }

  /** A process has ended. */
  forget(process: Process): void {
    for (const attempt of this.#undecided) {
      if (attempt.process === process) this.#undecided.delete(attempt);
    }
  }

  /** Whether so many votes may have failed: by errors, or by the time limit. */
  #mayHaveFailed({ errors, startedMs }: Attempt, votes: readonly Vote[]): boolean {
    // A node that is suspected and was not asked has not failed in this round.
    const failed = votes.filter(
      (vote) => vote.outcome === "failed" && !vote.cause.message.startsWith("suspected"),
    ).length;
    return failed <= errors.size || this.#world.nowMs >= startedMs + this.#limitMs * 0.9;
  }

  #expectDecision(process: Process, attempt: Attempt): void {
    const { token, granted, answered, errors } = attempt;
    const against = answered.size - granted.size + errors.size;
    const isClear = granted.size >= this.#quorum || against > this.#tooMany;
    if (!isClear || !this.#undecided.has(attempt)) return;
    const message = `does not decide ${token}: ${granted.size} for, ${against} against`;
    this.#world.violate("decision", `${process.id} ${message}`);
  }

  #expectUndo(process: Process, { token, verdict, asked, undo, stragglers }: Attempt): void {
    for (const node of verdict === "lost" ? asked : []) {
      if (undo.has(node)) continue;
      this.#world.violate("leftover", `${process.id} does not undo ${token} on ${node.id}`);
    }
    for (const node of stragglers) {
      const message = `does not release ${token} on ${node.id}, which granted after the end`;
      this.#world.violate("leftover", `${process.id} ${message}`);
    }
    stragglers.clear();
  }
}

/** Whether these are the votes that an attempt's sender has got. */
function hasVotes({ answered, granted }: Attempt, votes: readonly Vote[]): boolean {
  const answers = votes.filter(({ outcome }) => outcome !== "failed");
  if (answers.length !== answered.size) return false;
  return Array.from(answered).every((node) => {
    const vote = answers.find((each) => each.node === node.id);
    return vote && (vote.outcome === "granted") === granted.has(node);
  });
}
