import { describe, expect, it } from "vitest";
import { upstashNode } from "../src/index.ts";
import { drivers, TOKEN } from "./drivers.ts";

describe.each(drivers)("the name of a node over $driver", ({ make }) => {
  const client = (url: string) => make({ url, token: TOKEN });

  it("is the URL's host, with the port where it is not the usual one", () => {
    expect(upstashNode(client("https://eu1-fit-1.upstash.io")).name).toBe("eu1-fit-1.upstash.io");
    expect(upstashNode(client("https://eu1.upstash.io/")).name).toBe("eu1.upstash.io");
    expect(upstashNode(client("http://localhost:8079/redis-a")).name).toBe("localhost:8079");
  });

  it("is the one that was given", () => {
    const redis = client("https://eu1.upstash.io");
    expect(upstashNode(redis, { name: "eu" }).name).toBe("eu");
    expect(upstashNode(redis, { name: undefined }).name).toBe("eu1.upstash.io");
  });

  it("comes with the client and a time limit that suits HTTP, for the core", () => {
    const redis = client("https://eu1.upstash.io");
    expect(upstashNode(redis).client).toBe(redis);
    expect(upstashNode(redis).timeoutMs).toBe(1_000);
    expect(upstashNode(redis, { timeoutMs: 250 }).timeoutMs).toBe(250);
  });
});
