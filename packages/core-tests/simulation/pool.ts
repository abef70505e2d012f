import { Worker } from "node:worker_threads";
import type { Batch, BatchResult } from "./worker.ts";

/** Small enough for progress, large enough to keep the threads busy. */
const BATCH = 20;

/** How far a run is. */
export interface Progress {
  readonly result: BatchResult;
  /** All seeds below it have been run. */
  readonly next: number;
}

/** Runs seeds on several threads until `count` are done or the time is up. */
export async function runSeeds(
  wish: { readonly from: number; readonly count: number; readonly workers: number },
  isTimeUp: () => boolean,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const end = wish.from + wish.count;
  let upcoming = wish.from;
  const done = new Set<number>();
  let next = wish.from;
  const take = (): Batch | undefined => {
    if (upcoming >= end || isTimeUp()) return undefined;
    const from = upcoming;
    upcoming = Math.min(end, from + BATCH);
    return { from, count: upcoming - from };
  };
  const finish = (result: BatchResult): void => {
    done.add(result.from);
    while (done.delete(next)) next = Math.min(end, next + BATCH);
    onProgress({ result, next });
  };
  await Promise.all(Array.from({ length: wish.workers }, () => work(take, finish)));
}

function work(take: () => Batch | undefined, finish: (result: BatchResult) => void): Promise<void> {
  const worker = new Worker(new URL("worker.mjs", import.meta.url));
  return new Promise((resolve, reject) => {
    const goOn = (): void => {
      const batch = take();
      if (batch) worker.postMessage(batch);
      else resolve(worker.terminate().then(() => {}));
    };
    worker.on("message", (result: BatchResult) => {
      finish(result);
      goOn();
    });
    worker.on("error", reject);
    goOn();
  });
}
