import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Job, Outcome } from "./job.ts";

/** Far more than the slowest job takes, on a busy machine: a change of the core may make it run in circles. */
const LIMIT_MS = 120_000;

/** Worker threads, one for each processor, that do jobs in the order in which they are asked. */
export class Crew {
  readonly #program: string;
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  readonly #waiting: ((worker: Worker) => void)[] = [];
  readonly #size: number;

  constructor(program: string, size: number = availableParallelism()) {
    this.#program = program;
    this.#size = size;
  }

  /**
   * Has the next free worker do the job.
   *
   * @throws Error when the job fails, leaves a rejected promise behind or does not end.
   */
  async do(job: Job): Promise<Outcome> {
    const worker = await this.#take();
    try {
      const outcome = await answerOf(worker, job);
      this.#give(worker);
      return outcome;
    } catch (error) {
      this.#all.delete(worker);
      await worker.terminate();
      if (this.#waiting.length > 0) this.#give(this.#hire());
      throw error;
    }
  }

  async dismiss(): Promise<void> {
    await Promise.all(Array.from(this.#all, (worker) => worker.terminate()));
  }

  #take(): Worker | Promise<Worker> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#all.size < this.#size) return this.#hire();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #give(worker: Worker): void {
    const next = this.#waiting.shift();
    if (next) next(worker);
    else this.#idle.push(worker);
  }

  #hire(): Worker {
    const worker = new Worker(this.#program);
    this.#all.add(worker);
    return worker;
  }
}

function answerOf(worker: Worker, job: Job): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const { seeds } = job;
    const what = `seeds ${seeds[0]} to ${seeds.at(-1)}`;
    const timer = setTimeout(() => fail(new Error("did not end")), LIMIT_MS);
    const settle = (): void => {
      clearTimeout(timer);
      worker.off("message", succeed).off("error", fail);
    };
    const succeed = (outcome: Outcome): void => {
      settle();
      resolve(outcome);
    };
    const fail = (cause: Error): void => {
      settle();
      reject(new Error(`${what}: ${cause.message}`, { cause }));
    };
    worker.on("message", succeed).on("error", fail);
    worker.postMessage(job);
  });
}
