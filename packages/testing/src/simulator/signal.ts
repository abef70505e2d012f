/** An AbortSignal that counts who listens, so that a listener left behind is seen. */
export class CountedSignal {
  readonly #controller = new AbortController();
  #listeners = 0;

  constructor() {
    const { signal } = this.#controller;
    const add = signal.addEventListener.bind(signal) as AbortSignal["addEventListener"];
    const remove = signal.removeEventListener.bind(signal) as AbortSignal["removeEventListener"];
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      this.#listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
      this.#listeners--;
      remove(...args);
    };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get listeners(): number {
    return this.#listeners;
  }

  abort(): void {
    this.#controller.abort(new Error("the caller aborted"));
  }
}
