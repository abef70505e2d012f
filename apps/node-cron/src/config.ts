import { hostname } from "node:os";
import { Cron } from "croner";

export interface Config {
  /** Of the independent Redis masters that vote. */
  readonly redisUrls: readonly string[];
  /** When to run, in cron's notation, by UTC: replicas in different time zones must agree. */
  readonly schedule: string;
  /** Part of the lock's name: replicas with the same name share the job. */
  readonly jobName: string;
  /** What a run calls; without it a run is a line in the log. */
  readonly jobUrl: string | undefined;
  /** How long after the death of a runner another replica takes over, in milliseconds. */
  readonly lockTtlMs: number;
  /** How this replica is called in logs and in the lock. */
  readonly replica: string;
}

/** What is wrong with the environment, in one line for each fault. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(faults: readonly string[]) {
    super(`the configuration cannot be used:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws ConfigError that names every variable that is missing or wrong. */
export function readConfig(env: Environment): Config {
  const { REDIS_URLS = "", SCHEDULE, JOB_NAME, JOB_URL, LOCK_TTL_MS, REPLICA } = env;
  const config: Config = {
    redisUrls: REDIS_URLS.split(",").flatMap((url) => url.trim() || []),
    schedule: SCHEDULE || "*/10 * * * * *",
    jobName: JOB_NAME || "job",
    jobUrl: JOB_URL || undefined,
    lockTtlMs: Number(LOCK_TTL_MS || 10_000),
    replica: REPLICA || `${hostname()}:${process.pid}`,
  };
  const faults = faultsOf(config);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function faultsOf({ redisUrls, schedule, jobUrl, lockTtlMs }: Config): string[] {
  const faults: string[] = [];
  if (redisUrls.length === 0) {
    faults.push("REDIS_URLS is missing: redis://host:port of each Redis, with commas between them");
  }
  redisUrls.forEach((url, index) => {
    // Not the URL itself: it may hold a password.
    if (!hasProtocol(url, /^rediss?:$/)) {
      faults.push(`REDIS_URLS: number ${index + 1} is no redis:// or rediss:// URL`);
    }
  });
  try {
    new Cron(schedule, { paused: true });
  } catch (error) {
    faults.push(`SCHEDULE: ${(error as Error).message}`);
  }
  if (jobUrl && !hasProtocol(jobUrl, /^https?:$/)) {
    faults.push("JOB_URL is no http:// or https:// URL");
  }
  if (!Number.isInteger(lockTtlMs) || lockTtlMs < 500 || lockTtlMs > 600_000) {
    faults.push("LOCK_TTL_MS must be an integer of milliseconds from 500 to 600000");
  }
  return faults;
}

function hasProtocol(url: string, protocol: RegExp): boolean {
  try {
    return protocol.test(new URL(url).protocol);
  } catch {
    return false;
  }
}
