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
    if (signal.aborted) {
      this.settle(new Error("aborted"));
      return;
    }
    const answers = waiting.get(signal) ?? listenTo(signal);
    answers.add(this);
    this.#stopListening = () => answers.delete(this);
  }
}

// One listener for all commands of a signal: from the eleventh on Node warns of a leak.
const waiting = new WeakMap<AbortSignal, Set<Answer>>();

function listenTo(signal: AbortSignal): Set<Answer> {
  const answers = new Set<Answer>();
  waiting.set(signal, answers);
  signal.addEventListener("abort", () => {
    for (const answer of answers) answer.settle(new Error("aborted"));
  });
  return answers;
}
