/** Chance, as the core uses it. Injected for simulation. */
export interface Random {
  /** A number in [0, 1), for the jitter of waits. */
  uniform(): number;
  /** A fresh token that nobody can guess: at least 128 bits, without `:` or white space. */
  token(): string;
}

export const systemRandom: Random = {
  uniform: () => Math.random(),
  token: () =>
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
      byte.toString(16).padStart(2, "0"),
    ).join(""),
};
