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
      new RegExp(`^ioredisNode takes a master's client, got ${description}$`),
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
