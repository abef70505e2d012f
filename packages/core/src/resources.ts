import { shown } from "./shown.ts";

/** One script call per node carries all keys of a lease; more would block a node for too long. */
const MAX_RESOURCES = 1_000;

/**
 * Checks what is to be locked; sorts it and drops duplicates, so that equal sets are equal locks.
 *
 * @throws TypeError for anything but a non-empty string or a non-empty array of them.
 * @throws RangeError for more than 1,000 resources.
 */
export function resourcesOf(resources: string | readonly string[]): readonly string[] {
  const all: readonly unknown[] = Array.isArray(resources) ? resources : [resources];
  if (all.length === 0) throw new TypeError("resources must name at least one resource, got []");
  if (all.length > MAX_RESOURCES) {
    throw new RangeError(`resources must be at most ${MAX_RESOURCES}, got ${all.length}`);
  }
  for (const resource of all) {
    if (typeof resource !== "string" || !resource) {
      throw new TypeError(`a resource must be a non-empty string, got ${shown(resource)}`);
    }
  }
  return Object.freeze([...new Set(all as string[])].sort());
}
