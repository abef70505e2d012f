/** `12,345 ms`: a comma, whatever the machine's language. */
export const msText = (ms: number): string => `${Math.round(ms).toLocaleString("en-US")} ms`;

/** ` 3.2 s`: as wide as any moment of an ordinary demo. */
export const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(4)} s`;
