/** One rule of the algorithm, and a change of the core's source that switches it off. */
export interface Mutation {
  /** What is switched off; ends the sentence "dies without". */
  readonly name: string;
  readonly rule: string;
  /** Where the algorithm's description says so: section and step. */
  readonly place: string;
  /** The invariants that rest on the rule: one of them has to be violated. */
  readonly violates: readonly string[];
  /** In packages/core/src. */
  readonly file: string;
  /** Source text that occurs exactly once in the file. */
  readonly anchor: string;
  readonly replacement: string;
}

/**
 * The source without the rule.
 *
 * @throws Error when the anchor is not there exactly once: the core has changed, and the mutation with it.
 */
export function mutate({ name, file, anchor, replacement }: Mutation, source: string): string {
  const [before, after, ...more] = source.split(anchor);
  if (before === undefined || after === undefined || more.length > 0) {
    const found = source.split(anchor).length - 1;
    throw new Error(
      `mutation "${name}": its anchor occurs ${found} times in packages/core/src/${file}, not once:\n${anchor}`,
    );
  }
  return before + replacement + after;
}
