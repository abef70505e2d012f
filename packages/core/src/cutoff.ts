import type { SendOptions } from "./redis-node.ts";

/**
 * An AbortController that costs nothing until somebody looks at its signal: real ones weigh more than all
 * the rest of a round, and most are never looked at.
 */
export class Cutoff {
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Aborts the signal; the first reason stays. */
  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}

/** What a driver is told beside a command: the signal is made only for a driver that looks at it. */
export class CommandOptions extends Cutoff implements SendOptions {
  readonly key: string;

  constructor(key: string) {
    super();
    this.key = key;
  }
}
