import { isRedlockError } from "@redlatch/core";

/** What a worker knows while it is inside. */
export interface Inside {
  /** Throws once the worker has no right to be inside any more. */
  assertHeld(): void;
}

/** Runs `work` inside the critical section, however that is protected. */
export type Section = (
  worker: string,
  work: (inside: Inside) => Promise<void>,
  signal: AbortSignal,
) => Promise<void>;

/** One update of the counter. */
export interface Turn {
  readonly worker: string;
  readonly waitedMs: number;
  readonly read: number;
}

/** How one worker is doing. */
export interface Worker {
  readonly name: string;
  state: "waiting" | "inside" | "resting" | "done";
  /** When it began to wait, by the race's clock. */
  sinceMs: number;
  updates: number;
  longestWaitMs: number;
}

/** A race at one moment. */
export interface RaceSnapshot {
  readonly workers: readonly Readonly<Worker>[];
  readonly counter: number;
  readonly updates: number;
  readonly lostUpdates: number;
}

export interface RaceOptions {
  readonly workers: number;
  readonly section: Section;
  /** What passes between a worker's reading and its writing. */
  readonly pause: () => Promise<void>;
  /** What passes between two turns of a worker: the others' chance. */
  readonly rest: () => Promise<void>;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly onTurn?: (turn: Turn) => void;
}

/** Workers that update one counter: read, pause, write. The classic lost update, if nothing prevents it. */
export class Race {
  readonly workers: readonly Worker[];
  counter = 0;
  /** How many times the counter was written: what it must be at the end. */
  updates = 0;
  /** The most workers that were inside at the same time. */
  mostInside = 0;
  /** How many times a worker found its lease lost and kept its hands off the counter. */
  leasesLost = 0;
  readonly #options: RaceOptions;
  #inside = 0;

  constructor(options: RaceOptions) {
    this.#options = options;
    this.workers = Array.from({ length: options.workers }, (_, index) => ({
      name: `worker-${index + 1}`,
      state: "waiting",
      sinceMs: 0,
      updates: 0,
      longestWaitMs: 0,
    }));
  }

  /** A copy that stays as it is. */
  snapshot(): RaceSnapshot {
    const { counter, updates, lostUpdates } = this;
    return {
      workers: this.workers.map((worker) => ({ ...worker })),
      counter,
      updates,
      lostUpdates,
    };
  }

  get lostUpdates(): number {
    return this.updates - this.counter;
  }

  get longestWaitMs(): number {
    return Math.max(...this.workers.map(({ longestWaitMs }) => longestWaitMs));
  }

  /** Runs until `goOn` says no (asked before each turn) or the signal ends the waiting. */
  async run(goOn: () => boolean, signal: AbortSignal): Promise<void> {
    await Promise.all(this.workers.map((worker) => this.#work(worker, goOn, signal)));
  }

  async #work(worker: Worker, goOn: () => boolean, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && goOn()) {
      worker.state = "waiting";
      worker.sinceMs = this.#options.nowMs();
      try {
        await this.#options.section(worker.name, (inside) => this.#turn(worker, inside), signal);
      } catch (error) {
        // A wait cut short by the end of the race counts as a wait: starving must show.
        if (worker.state === "waiting") this.#waited(worker);
        if (isRedlockError(error, "LEASE_LOST")) this.leasesLost++;
        else if (!signal.aborted || error !== signal.reason) throw error;
      }
      worker.state = "resting";
      if (!signal.aborted) await this.#options.rest();
    }
    worker.state = "done";
  }

  async #turn(worker: Worker, inside: Inside): Promise<void> {
    const waitedMs = this.#waited(worker);
    worker.state = "inside";
    this.mostInside = Math.max(this.mostInside, ++this.#inside);
    try {
      const read = this.counter;
      await this.#options.pause();
      inside.assertHeld();
      this.counter = read + 1;
      this.updates++;
      worker.updates++;
      this.#options.onTurn?.({ worker: worker.name, waitedMs, read });
    } finally {
      this.#inside--;
    }
  }

  #waited(worker: Worker): number {
    const waitedMs = this.#options.nowMs() - worker.sinceMs;
    worker.longestWaitMs = Math.max(worker.longestWaitMs, waitedMs);
    return waitedMs;
  }
}
