/** A timer that waits: when it is due, in which order it was made, and what it calls. */
export interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly background: boolean;
  readonly callback: () => void;
  /** Where it stands in the heap; -1: not in it. */
  index: number;
}

/** Timers by (time, order of creation). Adding, taking the first and removing any is O(log n). */
export class TimerHeap {
  readonly #timers: Timer[] = [];

  get size(): number {
    return this.#timers.length;
  }

  first(): Timer | undefined {
    return this.#timers[0];
  }

  add(timer: Timer): void {
    this.#place(timer, this.#timers.length);
    this.#rise(timer);
  }

  /** Takes a timer out; false when it was no longer in. */
  remove(timer: Timer): boolean {
    const { index } = timer;
    if (index < 0) {
      return false;
    }
    const last = this.#timers.pop()!;
    timer.index = -1;
    if (last !== timer) {
      this.#place(last, index);
      this.#rise(last);
      this.#sink(last);
    }
    return true;
  }

  [Symbol.iterator](): Iterator<Timer> {
    return this.#timers[Symbol.iterator]();
  }

  #place(timer: Timer, index: number): void {
    this.#timers[index] = timer;
    timer.index = index;
  }

  #rise(timer: Timer): void {
    while (timer.index > 0) {
      const parent = this.#timers[(timer.index - 1) >> 1]!;
      if (!isBefore(timer, parent)) return;
      this.#swap(timer, parent);
    }
  }

  #sink(timer: Timer): void {
    for (;;) {
      const left = this.#timers[timer.index * 2 + 1];
      const right = this.#timers[timer.index * 2 + 2];
      const child = right && left && isBefore(right, left) ? right : left;
      if (!child || !isBefore(child, timer)) return;
      this.#swap(timer, child);
    }
  }

  #swap(a: Timer, b: Timer): void {
    const { index } = a;
    this.#place(a, b.index);
    this.#place(b, index);
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
