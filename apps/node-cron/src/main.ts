import { Redlock } from "@redlatch/core";
import { ioredisNode } from "@redlatch/ioredis";
import { Cron } from "croner";
import { Redis } from "ioredis";
import { ConfigError, readConfig } from "./config.ts";
import { callUrl, doNothing, type Job, type Tick } from "./job.ts";
import { runTick } from "./run-tick.ts";

const GRACE_MS = 5_000;
/** As long as Redlatch extends a lock by itself. */
const LONGEST_RUN_MS = 3_600_000;

function start(): void {
  const { redisUrls, schedule, jobName, jobUrl, lockTtlMs, replica } = readConfig(process.env);
  const log = (event: string, more: object = {}) =>
    console.log(JSON.stringify({ time: new Date(), replica, event, ...more }));

  const clients = redisUrls.map((url) => new Redis(url));
  const nodes = clients.map((client) => ioredisNode(client));
  const redlock = new Redlock(nodes, { owner: replica });
  redlock.on("nodeFailed", ({ node, cause }) => log("node failed", { node, why: cause.message }));
  redlock.on("nodeRecovered", ({ node }) => log("node recovered", { node }));

  const stopping = new AbortController();
  const job: Job = async (tick, signal) => {
    log("started", { tick: tick.at });
    await (jobUrl ? callUrl(jobUrl, replica) : doNothing)(tick, signal);
  };
  const onUnreachable = (error: Error) => log("no quorum", { why: error.message });

  async function take(tick: Tick): Promise<void> {
    const { signal } = stopping;
    try {
      const outcome = await runTick(redlock, tick, job, signal, { lockTtlMs, onUnreachable });
      log(outcome, { tick: tick.at });
    } catch (error) {
      const event = signal.aborted ? "interrupted" : "failed";
      log(event, { tick: tick.at, why: (error as Error).message });
    }
  }

  const cron = new Cron(schedule, { timezone: "UTC" }, (self) => {
    // By what the schedule says, not by when the timer came: a tick has the same name everywhere.
    const [at] = self.previousRuns(1, new Date(Date.now() + 1));
    if (at) void take({ jobName, at, until: endOf(at, self.nextRun(at)) });
  });

  async function stop(why: string): Promise<void> {
    log("stopping", { why });
    cron.stop();
    stopping.abort(new Error(`${replica} shuts down`));
    // Waits for the run, which has just been told to end, and releases its lock.
    await redlock.close({ graceMs: GRACE_MS });
    for (const client of clients) client.disconnect();
    log("stopped");
    // A job that did not listen must not keep the process: its lock expires by itself.
    process.exit();
  }
  // Once: a second signal ends the process as it always does.
  for (const name of ["SIGTERM", "SIGINT"]) process.once(name, () => void stop(name));
  log("waiting", { job: jobName, schedule, next: cron.nextRun() });
}

const endOf = (at: Date, next: Date | null): Date =>
  new Date(Math.min(at.getTime() + LONGEST_RUN_MS, next?.getTime() ?? Infinity));

try {
  start();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
