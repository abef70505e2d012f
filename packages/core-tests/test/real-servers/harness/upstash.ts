import {
  type RealServer,
  type RestServer,
  restServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import { upstashNode } from "@redlatch/upstash";
import { Redis } from "@upstash/redis";
import type { Connection, Harness } from "./harness.ts";

const TOKEN = "rest-token";

export function connect(url: string, name: string): Connection {
  const redis = new Redis({ url: `http://${new URL(url).host}`, token: TOKEN });
  // Idle connections of fetch keep no process alive, and close by themselves.
  return { node: upstashNode(redis, { name }), unref: () => {}, close: () => {} };
}

export const upstash = (ttlMs: number): Harness => ({
  title: `@upstash/redis, ttl ${ttlMs} ms`,
  ttlMs,
  module: new URL(import.meta.url),
  startNodes: async (...options) => overHttp(await startServers(...options)),
  connect,
});

/** The same servers, each with a REST server's address in place of its own. */
async function overHttp(pool: ServerPool): Promise<ServerPool> {
  const rests = await Promise.all(
    pool.servers.map((server) => restServer(server, { token: TOKEN })),
  );
  const servers = pool.servers.map((server, index) => readdressed(server, rests[index]!));
  const stop = async () => {
    await Promise.all(rests.map((rest) => rest.stop()));
    await pool.stop();
  };
  return { servers, stop, [Symbol.asyncDispose]: stop };
}

function readdressed(server: RealServer, { port, url }: RestServer): RealServer {
  const address: Readonly<Record<PropertyKey, unknown>> = { port, url };
  return new Proxy(server, {
    get(_, name) {
      if (name in address) return address[name];
      const value: unknown = Reflect.get(server, name);
      return typeof value === "function" ? value.bind(server) : value;
    },
  });
}
