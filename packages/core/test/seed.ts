import fc from "fast-check";

/**
 * The seed of all properties: SEED, or another one each time. fast-check prints it with what it found; the
 * same SEED finds it again.
 */
const seed = process.env["SEED"] ? Number(process.env["SEED"]) : Date.now() % 2 ** 31;

export const check = <Values extends unknown[]>(
  property: fc.IPropertyWithHooks<Values>,
  runs = 1_000,
): void => fc.assert(property, { seed, numRuns: runs });

export const checkAsync = <Values extends unknown[]>(
  property: fc.IAsyncPropertyWithHooks<Values>,
  runs = 1_000,
): Promise<void> => fc.assert(property, { seed, numRuns: runs });

/** What can be written as text. */
export function isShowable(value: unknown): boolean {
  try {
    String(value);
    return true;
  } catch {
    return false;
  }
}
