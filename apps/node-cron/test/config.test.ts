import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../src/config.ts";

const faultsOf = (env: Record<string, string>): string => {
  try {
    readConfig({ REDIS_URLS: "redis://127.0.0.1:1", ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "";
};

describe("the configuration", () => {
  it("needs nothing but the Redis servers", () => {
    const config = readConfig({ REDIS_URLS: "redis://10.0.0.1, rediss://u:p@10.0.0.2:6380" });
    expect(config).toMatchObject({
      redisUrls: ["redis://10.0.0.1", "rediss://u:p@10.0.0.2:6380"],
      schedule: "*/10 * * * * *",
      jobName: "job",
      jobUrl: undefined,
      lockTtlMs: 10_000,
    });
  });

  it("is refused with every fault that it has, and no password", () => {
    const faults = faultsOf({
      REDIS_URLS: "redis://127.0.0.1:1,:secret@10.0.0.2",
      SCHEDULE: "every day",
      JOB_URL: "example.com/job",
      LOCK_TTL_MS: "10s",
    });
    expect(faults.split("\n").slice(1)).toEqual([
      "  - REDIS_URLS: number 2 is no redis:// or rediss:// URL",
      expect.stringMatching(/^ {2}- SCHEDULE: .*'every day'/),
      "  - JOB_URL is no http:// or https:// URL",
      "  - LOCK_TTL_MS must be an integer of milliseconds from 500 to 600000",
    ]);
  });

  it("is refused without Redis servers", () => {
    expect(faultsOf({ REDIS_URLS: " " })).toContain("REDIS_URLS is missing");
  });
});
