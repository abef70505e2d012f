import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** The port everybody's own Redis listens on: a test that empties a server must never meet it. */
const DEFAULT_REDIS_PORT = 6379;

/** A cluster node also listens on its port + 10000. */
const CLUSTER_BUS_OFFSET = 10_000;

/** Asks the operating system for a port on 127.0.0.1 that nobody uses now. Somebody may take it later. */
export async function freePort(options: { clusterBus?: boolean } = {}): Promise<number> {
  for (;;) {
    const port = await portFromSystem(0);
    if (port === undefined || port === DEFAULT_REDIS_PORT) continue;
    if (!options.clusterBus) return port;
    const bus = port + CLUSTER_BUS_OFFSET;
    if (bus <= 65_535 && (await portFromSystem(bus)) === bus) return port;
  }
}

async function portFromSystem(wanted: number): Promise<number | undefined> {
  const listener = createServer();
  try {
    listener.listen(wanted, "127.0.0.1");
    await once(listener, "listening");
  } catch {
    return undefined;
  }
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, "close");
  return port;
}
