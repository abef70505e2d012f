import { RedisClient } from "bun";
import { bunNode } from "../own-driver/bun-node.mjs";

export function connect({ name, url }) {
  const client = new RedisClient(url, { enableOfflineQueue: false });
  return { node: bunNode(name, client), close: () => client.close() };
}
