import { nodeRedisNode } from "@redlatch/redis";
import { createClient } from "redis";

export async function connect({ url }) {
  const client = createClient({ url });
  client.on("error", () => {});
  await client.connect();
  return { node: nodeRedisNode(client), close: () => client.destroy() };
}
