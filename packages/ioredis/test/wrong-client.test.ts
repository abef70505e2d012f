import { describe, expect, it } from "vitest";
import { ioredisNode } from "../src/index.ts";
import { closing, drivers } from "./drivers.ts";

const make = (client: unknown) => () => ioredisNode(client as never);

describe("a client of another library", () => {
  it("is refused with the name of node-redis' package", () => {
    const nodeRedis = { isOpen: true, isReady: true, options: {}, sendCommand() {} };
    expect(make(nodeRedis)).toThrow(TypeError);
    expect(make(nodeRedis)).toThrow("node-redis: use @redlatch/redis");
  });

  it("is refused with the name of Upstash's package, its commands being in a proxy or not", () => {
    const upstash = { client: {}, opts: {}, exec() {}, createScript() {} };
    expect(make(upstash)).toThrow("Upstash: use @redlatch/upstash");
    expect(make(new Proxy(upstash, {}))).toThrow("@redlatch/upstash");
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
      new RegExp(`^ioredisNode takes a master's client of ioredis 5 or 6, got ${description}$`),
    );
  });

  it("is refused without showing a URL given in its place", () => {
    expect(make("redis://:secret@host")).toThrow(/got string$/);
  });
});

describe.each(drivers)("a replica's client of $driver", ({ Redis }) => {
  it.each([
    { readOnly: true },
    { sentinels: [{ host: "127.0.0.1", port: 1 }], name: "main", role: "slave" as const },
  ])("is refused, because a replica's replies are never votes: %o", (options) => {
    const client = closing(new Redis({ ...options, lazyConnect: true }));
    expect(make(client)).toThrow("got a replica's");
  });
});

describe.each(drivers)("a client of $driver with a URL where an address belongs", (driver) => {
  const Redis = driver.Redis as new (...args: unknown[]) => { disconnect(): void };
  const url = "redis://user:secret@127.0.0.1:1";
  const lazyConnect = true;

  it.each([
    [{ host: url, lazyConnect }],
    [{ host: "user:secret@127.0.0.1", lazyConnect }],
    [{ path: url, lazyConnect }],
    // What ioredis takes for the path of a socket.
    ["redis//:secret@127.0.0.1:1", { lazyConnect }],
    ["redis:/user:secret@127.0.0.1:1", { lazyConnect }],
    [{ sentinels: [{ host: "127.0.0.1" }, { host: url }], name: "main", lazyConnect }],
  ])("is refused, and not shown, because the driver's errors would: %o", (...args) => {
    const client = closing(new Redis(...args));
    expect(make(client)).toThrow(/got a URL for a host or path$/);
  });

  it("is refused among a Cluster's start-up nodes, too, where a URL by itself is fine", () => {
    const cluster = (...nodes: ConstructorParameters<typeof driver.Cluster>[0]) =>
      closing(new driver.Cluster(nodes, { lazyConnect }));
    expect(make(cluster("redis://a", { host: url }))).toThrow(/URL for a host or path$/);
    expect(make(cluster(url))).not.toThrow();
  });

  it("is accepted with any other address", () => {
    for (const address of ["redis://user:secret@a:1", "/run/redis@1/redis.sock", "/run/a:1.sock"]) {
      expect(make(closing(new Redis(address, { lazyConnect })))).not.toThrow();
    }
    expect(make(closing(new Redis({ host: "fe80::1", lazyConnect })))).not.toThrow();
  });
});
