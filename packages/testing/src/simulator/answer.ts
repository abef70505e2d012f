import type { NodeReply } from "../memory-node.ts";

/** The promise of one command, which settles once. */
export class Answer {
  readonly #resolve: (reply: unknown) => void;
  readonly #reject: (error: Error) => void;
  #isOpen = true;
  #stopListening: (() => void) | undefined;

  constructor(resolve: (reply: unknown) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Whether somebody waits for it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  settle(reply: NodeReply): void {
    this.#isOpen = false;
    this.#stopListening?.();
    if (reply instanceof Error) this.#reject(reply);
    else this.#resolve(reply);
  }

  /** Settles when the signal aborts, as with a driver that can cancel: what was sent is executed all the same. */
  endWith(signal: AbortSignal): void {
    const cancel = (): void => this.settle(new Error("aborted"));
    signal.addEventListener("abort", cancel);
    this.#stopListening = () => signal.removeEventListener("abort", cancel);
    if (signal.aborted) cancel();
  }
}
