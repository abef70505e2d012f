import { ioredisNode } from "@redlatch/ioredis";
import { Redis } from "ioredis";

export function connect({ url }) {
  const client = new Redis(url);
  return { node: ioredisNode(client), close: () => client.disconnect() };
}
