/** The library's options that the clients of a simulation share. */
export interface ClientSettings {
  readonly ttlMs: number;
  readonly waitMs: number;
  readonly nodeTimeoutMs: number;
  readonly retryDelayMs: number;
  readonly retryJitter: number;
  readonly driftFactor: number;
  readonly keyPrefix: string;
}
