import { describe, expect, it } from "vitest";
import { nodeRedisNode } from "../src/index.ts";
import { drivers } from "./drivers.ts";

const make = (client: unknown) => () => nodeRedisNode(client as never);

describe("a client of another library", () => {
  it("is refused with the name of ioredis' package, a Redis and a Cluster", () => {
    for (const isCluster of [false, true]) {
      const ioredis = { status: "ready", isCluster, options: {}, call() {} };
      expect(make(ioredis)).toThrow(TypeError);
      expect(make(ioredis)).toThrow("ioredis: use @redlatch/ioredis");
    }
  });

  it("is refused with the name of Upstash's package, its commands being in a proxy or not", () => {
    const upstash = { client: {}, opts: {}, exec() {}, createScript() {} };
    expect(make(upstash)).toThrow("Upstash: use @redlatch/upstash");
    expect(make(new Proxy(upstash, {}))).toThrow("@redlatch/upstash");
  });

  it("is refused when it is of node-redis 4, which a late reply crashes", () => {
    const old = { isOpen: true, isReady: true, options: {}, sendCommand() {}, on() {}, v4: {} };
    expect(make(old)).toThrow("takes a client of redis 5.11+, got object");
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
      new RegExp(`^nodeRedisNode takes a client of redis 5.11\\+, got ${description}$`),
    );
  });

  it("is refused without showing a URL given in its place", () => {
    expect(make("redis://:secret@host")).toThrow(/got string$/);
  });
});

describe.each(drivers)("a replica's client of $driver", ({ createClient }) => {
  it("is refused, because a replica's replies are never votes", () => {
    expect(make(createClient({ readonly: true }))).toThrow("got a replica's");
    expect(make(createClient({ readonly: false }))).not.toThrow();
  });
});

describe.each(drivers)("a client of $driver with a URL where an address belongs", (driver) => {
  const { createClient, createCluster } = driver;
  const url = "redis://user:secret@127.0.0.1:1";
  const refused = /got a URL as host$/;

  it("is refused, and not shown, because the driver's errors would", () => {
    expect(make(createClient({ socket: { host: url } }))).toThrow(refused);
    expect(make(createClient({ socket: { path: url } as never }))).toThrow(refused);
    const rootNodes = [{ url: "redis://a" }, { socket: { host: url } }];
    expect(make(createCluster({ rootNodes }))).toThrow(refused);
  });

  it("is accepted with any other address", () => {
    expect(make(createClient({ url }))).not.toThrow();
    expect(make(createCluster({ rootNodes: [{ url }] }))).not.toThrow();
    expect(make(createClient({ socket: { host: "fe80::1" } }))).not.toThrow();
    expect(make(createClient({ socket: { path: "/run/a@1/b:1.sock" } as never }))).not.toThrow();
  });
});
