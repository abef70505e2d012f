/** A server that runs: a process of this machine, or a container. */
export interface ServerProgram {
  /** Undefined where the server is a container. */
  readonly pid: number | undefined;
  /** False once the program has ended, for whatever reason. */
  readonly alive: boolean;
  hang(): Promise<void>;
  resume(): Promise<void>;
  /** Ends it at once, also while it hangs; resolves when it has ended. Does nothing where it has. */
  kill(): Promise<void>;
}

export interface ProgramSettings {
  readonly name: string;
  readonly port: number;
  /** A folder of this machine; data and log go there. */
  readonly dataDirectory: string;
  /** Everything but the address and the folder. */
  readonly flags: readonly string[];
  /** The server's program, where it is not to be the machine's own. */
  readonly program?: string | undefined;
}

/** Starts a server; resolves when it accepts commands. */
export type LaunchProgram = (settings: ProgramSettings) => Promise<ServerProgram>;

/** Somebody else took the port between the choice and the start. */
export class PortTakenError extends Error {
  override readonly name = "PortTakenError";
}

/** Every Redis and Valkey says so, in its log, after the data is loaded. */
export const READY_LINE: RegExp = /ready to accept connections/i;
