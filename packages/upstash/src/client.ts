/**
 * What tells a `Redis` of @upstash/redis, from whichever of its entries, from other libraries' clients.
 */
export interface UpstashClient {
  createScript(script: string): unknown;
  pipeline(): unknown;
}

/** The HTTP client inside of it, as it is at run time. */
export interface HttpClient {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: {
    readonly cache?: RequestCache;
    readonly keepAlive?: boolean;
  };
}

/**
 * Takes the HTTP client out of an Upstash client, by its shape, without importing the driver.
 *
 * @throws TypeError when it is none, or one that cannot be asked.
 */
export function httpClientOf(redis: unknown): HttpClient {
  const shape = Object(redis);
  const mistake = mistakeOf(shape, redis);
  if (mistake) throw new TypeError(`upstashNode takes a client of @upstash/redis, got ${mistake}`);
  return shape.client;
}

function mistakeOf(shape: { client?: Partial<HttpClient> }, redis: unknown): string | false {
  if ("isCluster" in shape) return "ioredis: use @redlatch/ioredis";
  if ("isOpen" in shape) return "node-redis: use @redlatch/redis";
  const { client } = shape;
  if (!client) return `${redis && typeof redis}`;
  const { baseUrl, headers } = client;
  if (!headers) return "one over a Requester: use defineNode of @redlatch/core";
  // What fetch refuses, it repeats in its error: neither may hold what it refuses. In Deno it repeats the
  // whole URL, where Upstash would take a token behind a question mark.
  if (!/^https?:\/\/[^@\s?#]+$/.test(`${baseUrl}`) || !URL.canParse(`${baseUrl}`)) {
    return "one without a url like https://host, free of credentials";
  }
  return (
    !/^Bearer (?!undefined$)[!-~]+$/.test(`${headers["authorization"]}`) &&
    "one without a token, or with white space in it"
  );
}
