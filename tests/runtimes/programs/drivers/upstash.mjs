import { upstashNode } from "@redlatch/upstash";
import { Redis } from "@upstash/redis";

export function connect({ name, rest }) {
  const redis = new Redis({ url: rest.url, token: rest.token, enableTelemetry: false });
  return { node: upstashNode(redis, { name }), close: () => {} };
}
