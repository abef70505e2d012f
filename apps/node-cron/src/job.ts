/** One time at which the schedule is due. */
export interface Tick {
  readonly jobName: string;
  readonly at: Date;
  /** When the next tick is due, or an hour later: what has not been done by then is given up. */
  readonly until: Date;
}

export const nameOf = ({ jobName, at }: Tick): string => `${jobName}/${at.toISOString()}`;

/** The work. Ends early when `signal` aborts: the lock is lost, the time is up, or the process shuts down. */
export type Job = (tick: Tick, signal: AbortSignal) => Promise<void>;

/** Makes a job that calls a URL. The key lets the other side recognise a run that is repeated. */
export const callUrl =
  (url: string, replica: string): Job =>
  async (tick, signal) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": nameOf(tick) },
      body: JSON.stringify({ job: tick.jobName, tick: tick.at, replica }),
      signal,
    });
    await response.text();
    if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  };

/** For a first look, before there is a URL to call. */
export const doNothing: Job = async () => {};
