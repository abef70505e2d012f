/** Where text goes; `columns` and `rows` are known where it is a terminal. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** What a command has of the world outside: its two outputs, and the user's wish to stop. */
export interface Terminal {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborts on Ctrl-C and the like; the reason is an {@link Interruption}. */
  readonly interrupted: AbortSignal;
}

/** A signal that asks the process to end. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly signal: keyof typeof SIGNAL_NUMBERS;
  /** The shell's convention: 128 and the signal's number. */
  readonly exitCode: number;

  constructor(signal: keyof typeof SIGNAL_NUMBERS) {
    super(`stopped by ${signal}`);
    this.signal = signal;
    this.exitCode = 128 + SIGNAL_NUMBERS[signal];
  }
}

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGPIPE: 13, SIGTERM: 15 };

/** The terminal of this process, until it is closed. */
export function processTerminal(): Terminal & { close(): void } {
  const controller = new AbortController();
  const interrupt = (signal: keyof typeof SIGNAL_NUMBERS): void => {
    // Whoever asks twice does not want to wait for the cleaning up.
    if (controller.signal.aborted && signal !== "SIGPIPE") {
      process.exit(128 + SIGNAL_NUMBERS[signal]);
    }
    controller.abort(new Interruption(signal));
  };
  const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  // `redlatch demo | head`: nobody reads on, which is no crash.
  const onBrokenPipe = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    interrupt("SIGPIPE");
  };
  process.stdout.on("error", onBrokenPipe);
  const close = (): void => {
    for (const signal of signals) process.off(signal, interrupt);
  };
  const { stdout, stderr } = process;
  return { stdout, stderr, interrupted: controller.signal, close };
}
