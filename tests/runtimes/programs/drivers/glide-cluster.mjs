import { GlideClusterClient, Logger } from "@valkey/valkey-glide";
import { glideClusterNode } from "../own-driver/glide-node.mjs";

Logger.init("off");

const requestTimeout = 1_000;

export async function connect({ name, url }) {
  const { hostname: host, port } = new URL(url);
  const client = await GlideClusterClient.createClient({
    addresses: [{ host, port: Number(port) }],
    requestTimeout,
    inflightRequestsLimit: 2_000,
  });
  return { node: glideClusterNode(name, client, requestTimeout), close: () => client.close() };
}
