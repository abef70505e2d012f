/** A member of a sorted set and its score. */
export type Scored = readonly [member: string, score: number];

/** The value of a sorted set: ordered by score, then by the member's bytes. */
export class SortedSet {
  readonly #scores: Map<string, number>;
  #ordered: Scored[] | undefined = undefined;

  constructor(scores: Iterable<Scored> = []) {
    this.#scores = new Map(scores);
  }

  get size(): number {
    return this.#scores.size;
  }

  score(member: string): number | undefined {
    return this.#scores.get(member);
  }

  set(member: string, score: number): void {
    this.#scores.set(member, score);
    this.#ordered = undefined;
  }

  delete(member: string): boolean {
    this.#ordered = undefined;
    return this.#scores.delete(member);
  }

  /** All members in order. */
  ordered(): readonly Scored[] {
    // Sorted on demand: sets of permits are small, and often only counted.
    this.#ordered ??= [...this.#scores].sort(
      ([a, x], [b, y]) => x - y || (a < b ? -1 : Number(a > b)),
    );
    return this.#ordered;
  }
}
