/** The seed asked for, by argument or by the environment variable SEED, else a new one. */
export function chosenSeed(asked: string | undefined = process.env["SEED"]): number {
  if (asked === undefined || asked === "") return Date.now() % 1_000_000;
  const seed = Number(asked);
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  throw new Error(`a seed must be an integer from 0, got ${asked}`);
}
