import { conformanceCases, lockScenarios, silenceCases } from "@redlatch/testing/conformance";
import { type ServerPool, startCluster, startServers } from "@redlatch/testkit";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type NodeRedisClient, nodeRedisNode } from "../src/index.ts";
import { drivers } from "./drivers.ts";

type Opened = NodeRedisClient & { destroy(): unknown };

describe.each(drivers)("$driver", ({ createClient, createClientPool, createCluster }) => {
  const single = (servers: ServerPool["servers"]) => createClient({ url: servers[0]!.url });
  const kinds = [
    { kind: "a client", start: () => startServers(1), open: single },
    {
      kind: "a pool",
      start: () => startServers(1),
      open: (servers: ServerPool["servers"]) => createClientPool({ url: servers[0]!.url }),
    },
    {
      kind: "a cluster",
      start: () => startCluster(3),
      open: (servers: ServerPool["servers"]) =>
        createCluster({ rootNodes: servers.map(({ url }) => ({ url })) }),
    },
  ];

  describe.each(kinds)("$kind", ({ kind, start, open }) => {
    let pool: ServerPool;
    let client: Opened;

    beforeAll(async () => {
      pool = await start();
      client = open(pool.servers);
      await client.connect();
    });
    afterAll(async () => {
      client?.destroy();
      await pool?.stop();
    });

    const silence = async (ms: number) => {
      await pool.servers[0]!.hang();
      setTimeout(() => pool.servers[0]!.resume(), ms);
    };
    const silent = kind === "a cluster" ? [] : silenceCases;

    it.each([...conformanceCases, ...silent])("$name", ({ run }) =>
      run(nodeRedisNode(client), { silence }),
    );
  });

  describe("three clients", () => {
    let pool: ServerPool;
    let clients: ReturnType<typeof createClient>[] = [];

    beforeAll(async () => {
      pool = await startServers(3);
      clients = pool.servers.map(({ url }) => createClient({ url }));
      await Promise.all(clients.map((client) => client.connect()));
    });
    afterAll(async () => {
      for (const client of clients) client.destroy();
      await pool?.stop();
    });

    it.concurrent.each(lockScenarios)("$name", ({ run }) =>
      run(
        clients.map((client) => nodeRedisNode(client)),
        { cycles: 500 },
      ),
    );
  });
});
