export interface Config {
  /** Of the independent Redis masters that vote. */
  readonly redisUrls: readonly string[];
  /** Where the reservations are kept. */
  readonly storeUrl: string;
  readonly port: number;
  /** How many seats a show has. */
  readonly capacity: number;
  /** How long a request waits for its turn, in milliseconds. */
  readonly waitMs: number;
}

/** What is wrong with the environment, in one line for each fault. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(faults: readonly string[]) {
    super(`the configuration cannot be used:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
  }
}

/** @throws ConfigError that names every variable that is missing or wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { REDIS_URLS = "", STORE_URL = "", PORT, CAPACITY, LOCK_WAIT_MS } = env;
  const faults: string[] = [];
  const wholeNumber = (name: string, text: string, min: number, max: number): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    faults.push(`${name} must be an integer from ${min} to ${max}`);
    return min;
  };
  const redisUrls = REDIS_URLS.split(",").flatMap((url) => url.trim() || []);
  if (redisUrls.length === 0) {
    faults.push("REDIS_URLS is missing: redis://host:port of each Redis, with commas between them");
  }
  redisUrls.forEach((url, index) => {
    // Not the URL itself: it may hold a password.
    if (!isRedisUrl(url)) {
      faults.push(`REDIS_URLS: number ${index + 1} is no redis:// or rediss:// URL`);
    }
  });
  if (!STORE_URL) faults.push("STORE_URL is missing: redis://host:port of the Redis with the data");
  else if (!isRedisUrl(STORE_URL)) faults.push("STORE_URL is no redis:// or rediss:// URL");
  const config: Config = {
    redisUrls,
    storeUrl: STORE_URL,
    port: wholeNumber("PORT", PORT || "8000", 0, 65_535),
    capacity: wholeNumber("CAPACITY", CAPACITY || "100", 1, 1_000_000),
    waitMs: wholeNumber("LOCK_WAIT_MS", LOCK_WAIT_MS || "2000", 0, 60_000),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function isRedisUrl(url: string): boolean {
  return URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol);
}
