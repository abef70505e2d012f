import { inspect } from "node:util";
import { Redis } from "@upstash/redis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { upstashNode } from "../src/index.ts";
import { drivers, TOKEN } from "./drivers.ts";

const make = (client: unknown) => () => upstashNode(client as never);

// The client itself warns of what is missing.
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

describe("a client of another library", () => {
  it("is refused with the name of ioredis' package", () => {
    const ioredis = { isCluster: false, status: "ready", options: {}, call() {}, pipeline() {} };
    expect(make(ioredis)).toThrow(TypeError);
    expect(make(ioredis)).toThrow("ioredis: use @redlatch/ioredis");
  });

  it("is refused with the name of node-redis' package", () => {
    const nodeRedis = { isOpen: true, isReady: true, options: {}, sendCommand() {} };
    expect(make(nodeRedis)).toThrow("node-redis: use @redlatch/redis");
  });

  it.each([
    [undefined, "undefined"],
    [null, "null"],
    [{}, "object"],
    [5, "number"],
    [() => {}, "function"],
  ])("is refused when it is %s", (client, description) => {
    expect(make(client)).toThrow(TypeError);
    expect(make(client)).toThrow(
      new RegExp(`^upstashNode takes a client of @upstash/redis, got ${description}$`),
    );
  });

  it("is refused without showing a URL given in its place", () => {
    expect(make("https://user:secret@host")).toThrow(/got string$/);
  });
});

describe("a client over a Requester of its own", () => {
  it("is refused with another way to go", () => {
    const redis = new Redis({ request: async () => ({ result: "OK" as never }) });
    expect(make(redis)).toThrow("one over a Requester: use defineNode of @redlatch/core");
  });
});

describe.each(drivers)("a client of $driver", ({ make: connect }) => {
  const refusal = (config: object): unknown => {
    try {
      return upstashNode(connect(config as never));
    } catch (error) {
      return error;
    }
  };

  it.each([
    { url: "https://user:hidden@host", token: TOKEN },
    { url: "https://user:hid/den@host", token: TOKEN },
    { url: "https://hidden@host", token: TOKEN },
    { url: "https://host?_token=hidden", token: TOKEN },
    { url: "https://host/#hidden", token: TOKEN },
    { url: "https://host:99999", token: TOKEN },
    { url: "", token: TOKEN },
  ])("is refused with a URL that fetch would refuse, and show: %o", (config) => {
    const error = refusal(config);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: expect.stringContaining("one without a url") });
    expect(inspect(error)).not.toMatch(/hidden|hid.den|Secret/);
  });

  // What is left out, 1.20 refuses itself.
  it.each(["undefined", "", `${TOKEN}\n`, `${TOKEN} `, `a ${TOKEN}`, `${TOKEN}ä`])(
    "is refused with a token that fetch would refuse, and show: %o",
    (token) => {
      const error = refusal({ url: "https://host", token });
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ message: expect.stringContaining("one without a token") });
      expect(inspect(error)).not.toContain("Secret");
    },
  );
});
