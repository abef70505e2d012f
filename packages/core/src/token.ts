/** Chance, as the core uses it. Injected for simulation. */
export interface Random {
  /** A number in [0, 1), for the jitter of waits. */
  uniform(): number;
  /** A fresh token that nobody can guess: at least 128 bits, without `:` or white space. */
  token(): string;
}

export const systemRandom: Random = {
  uniform: () => Math.random(),
  // No pool of random bytes: a copy of the process (a VM snapshot) would hand out the same tokens.
  token: () =>
    crypto
      .getRandomValues(new BigUint64Array(2))
      .reduce((text, word) => text + word.toString(36).padStart(13, "0"), ""),
};
