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
    Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) =>
      word.toString(16).padStart(8, "0"),
    ).join(""),
};
