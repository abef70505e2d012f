import { GlideClient, Logger } from "@valkey/valkey-glide";
import { glideNode } from "../own-driver/glide-node.mjs";

// Standard output is for the results.
Logger.init("off");

const requestTimeout = 1_000;

export async function connect({ name, url }) {
  const { hostname: host, port } = new URL(url);
  const client = await GlideClient.createClient({
    addresses: [{ host, port: Number(port) }],
    requestTimeout,
    inflightRequestsLimit: 2_000,
  });
  return { node: glideNode(name, client, requestTimeout), close: () => client.close() };
}
