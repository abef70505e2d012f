import type { RedisNode } from "@redlatch/core";
import { httpClientOf, type UpstashClient } from "./client.ts";
import { ask } from "./request.ts";

/** What {@link upstashNode} takes beside the client. */
export interface UpstashNodeOptions {
  /**
   * Appears in votes, events and errors; unique among the nodes of a Redlock; no credentials.
   *
   * @defaultValue The URL's host.
   */
  readonly name?: string | undefined;
  /**
   * This node's own time limit for one command, in milliseconds; never more than half of the TTL.
   *
   * @defaultValue 1_000: a cold start looks up the host and shakes hands for TCP and TLS first, four
   * round trips, which a distant region makes long.
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Makes a voting node of an Upstash client: a `Redis` of `@upstash/redis`, from any of its entries.
 *
 * The client says where and as whom: its URL, token, headers and fetch options are used. The request is
 * the adapter's own, one `fetch` per command and never a second: automatic pipelines, deserialisation,
 * base64, retries, a `signal` and `use()` of the client have no part in lock commands.
 *
 * @param redis - One client per database. Databases of independent failure, not replicas of one.
 * @throws TypeError when `redis` is no Upstash client, has no URL or no token, holds credentials or a
 * query in its URL, or was made of a `Requester` of its own.
 * @example
 * ```ts
 * import { Redlock } from "@redlatch/core";
 * import { upstashNode } from "@redlatch/upstash";
 * import { Redis } from "@upstash/redis";
 *
 * const databases = [
 *   { url: "https://eu1.upstash.io", token: "..." },
 *   { url: "https://us1.upstash.io", token: "..." },
 *   { url: "https://ap1.upstash.io", token: "..." },
 * ];
 * const redlock = new Redlock(databases.map((database) => upstashNode(new Redis(database))));
 * ```
 */
export function upstashNode(redis: UpstashClient, options: UpstashNodeOptions = {}): RedisNode {
  const http = httpClientOf(redis);
  const { name = new URL(http.baseUrl).host, timeoutMs = 1_000 } = options;
  return {
    name,
    timeoutMs,
    client: redis,
    send: (command, { signal }) => ask(http, command, signal),
  };
}
