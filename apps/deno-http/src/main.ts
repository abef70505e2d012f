import { Redlock } from "@redlatch/core";
import { nodeRedisNode } from "@redlatch/redis";
import { createClient } from "redis";
import { ConfigError, readConfig } from "./config.ts";
import { handlerOf } from "./handler.ts";
import { redisSeatStore } from "./seat-store.ts";

const GRACE_MS = 5_000;

function start(): void {
  const { redisUrls, storeUrl, port, capacity, waitMs } = readConfig(Deno.env.toObject());
  const clients = redisUrls.map((url) => createClient({ url }));
  const redlock = new Redlock(
    clients.map((client) => nodeRedisNode(client)),
    { waitMs },
  );
  redlock.on("nodeFailed", ({ node, cause }) => console.error(`${node} fails: ${cause.message}`));
  redlock.on("nodeRecovered", ({ node }) => console.error(`${node} is back`));

  // A request must not wait for a store that is gone.
  const storeClient = createClient({ url: storeUrl, disableOfflineQueue: true });
  storeClient.on("error", ({ message }: Error) => console.error(`the store fails: ${message}`));
  // A server that is down now must not keep the service from starting.
  for (const client of [...clients, storeClient]) client.connect().catch(() => {});

  const handler = handlerOf({ redlock, store: redisSeatStore(storeClient), capacity });
  const onListen = ({ port }: { port: number }) => console.log(`listening on port ${port}`);
  const server = Deno.serve({ port, onListen }, handler);

  async function stop(): Promise<void> {
    // No new requests; those under way finish, or are refused, and release what they hold.
    const finished = server.shutdown();
    await redlock.close({ graceMs: GRACE_MS });
    await finished;
    for (const client of [...clients, storeClient]) client.destroy();
    console.log("stopped");
    Deno.exit();
  }
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(name, () => void stop());
  }
}

try {
  start();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  Deno.exit(1);
}
