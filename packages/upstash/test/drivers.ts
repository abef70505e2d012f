import type { Command, RedisNode } from "@redlatch/core";
import { type RealServer, type RestServer, restServer } from "@redlatch/testkit";
import { Redis } from "@upstash/redis";
import { Redis as CloudflareRedis } from "@upstash/redis/cloudflare";
import { Redis as FastlyRedis } from "@upstash/redis/fastly";
import { Redis as NodeRedis } from "@upstash/redis/node";
import { Redis as Redis120 } from "upstash120";
import { Redis as Redis135 } from "upstash135";
import { afterEach } from "vitest";

/** What the configurations of all of them have in common and what the newest has beyond it. */
export interface Config {
  readonly url: string;
  readonly token: string;
  readonly signal?: AbortSignal | (() => AbortSignal);
  readonly cache?: RequestCache;
  readonly retry?: false | { readonly retries?: number; readonly backoff?: () => number };
  readonly responseEncoding?: false | "base64";
  readonly automaticDeserialization?: boolean;
  readonly enableAutoPipelining?: boolean;
  readonly latencyLogging?: boolean;
  readonly readYourWrites?: boolean;
  readonly keepAlive?: boolean;
  readonly agent?: unknown;
}

type Make = (config: Config) => Redis;
const made = (driver: string, Class: unknown) => ({
  driver,
  make: ((config) => new (Class as new (config: Config) => Redis)(config)) as Make,
});

/** Fastly wants the name of a backend beside the URL. */
class NamedFastlyRedis extends FastlyRedis {
  constructor(config: Config) {
    super({ backend: "database", ...config } as ConstructorParameters<typeof FastlyRedis>[0]);
  }
}

/** The newest by each of its entries, and older ones, typed as one. */
export const drivers = [
  made("@upstash/redis", Redis),
  made("@upstash/redis/node", NodeRedis),
  made("@upstash/redis/cloudflare", CloudflareRedis),
  made("@upstash/redis/fastly", NamedFastlyRedis),
  made("@upstash/redis 1.35.0", Redis135),
  made("@upstash/redis 1.20.0", Redis120),
] as const;

const rests = new Set<RestServer>();

/** A REST server until the end of the test. */
export async function serving(server: RealServer): Promise<RestServer> {
  const rest = await restServer(server, { token: TOKEN });
  rests.add(rest);
  return rest;
}

/** As long as Upstash's own. */
export const TOKEN = "AX8sACQgZTUwYjEwOTktZjkwZi00YjEwLWE1YjMtSecretSecretSecret==";

afterEach(async () => {
  await Promise.all([...rests].map((rest) => rest.stop()));
  rests.clear();
});

export function send(
  node: RedisNode,
  command: Command,
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  return node.send(command, { key: command[1] ?? "", signal });
}
