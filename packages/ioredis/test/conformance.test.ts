import type { RedisNode } from "@redlatch/core";
import { conformanceCases, lockScenarios, silenceCases } from "@redlatch/testing/conformance";
import { type ServerPool, startCluster, startServers } from "@redlatch/testkit";
import { afterAll, beforeAll, describe, it } from "vitest";
import { ioredisNode } from "../src/index.ts";
import { drivers } from "./drivers.ts";

describe.each(drivers)("$driver", ({ Redis, Cluster }) => {
  describe("with one server", () => {
    let pool: ServerPool;
    let client: InstanceType<typeof Redis>;
    let node: RedisNode;

    beforeAll(async () => {
      pool = await startServers(1);
      client = new Redis(pool.servers[0]!.url);
      node = ioredisNode(client);
    });
    afterAll(async () => {
      client?.disconnect();
      await pool?.stop();
    });

    const silence = async (ms: number) => {
      await pool.servers[0]!.hang();
      setTimeout(() => pool.servers[0]!.resume(), ms);
    };

    it.each([...conformanceCases, ...silenceCases])("$name", ({ run }) => run(node, { silence }));
  });

  describe("with a cluster", () => {
    let pool: ServerPool;
    let client: InstanceType<typeof Cluster>;

    beforeAll(async () => {
      pool = await startCluster(3);
      client = new Cluster(pool.servers.map(({ host, port }) => ({ host, port })));
    });
    afterAll(async () => {
      client?.disconnect();
      await pool?.stop();
    });

    it.each(conformanceCases)("$name", ({ run }) => run(ioredisNode(client)));
  });

  describe("with three servers", () => {
    let pool: ServerPool;
    let clients: InstanceType<typeof Redis>[] = [];

    beforeAll(async () => {
      pool = await startServers(3);
      clients = pool.servers.map(({ url }) => new Redis(url));
    });
    afterAll(async () => {
      for (const client of clients) client.disconnect();
      await pool?.stop();
    });

    it.concurrent.each(lockScenarios)("$name", ({ run }) =>
      run(
        clients.map((client) => ioredisNode(client)),
        { cycles: 500 },
      ),
    );
  });
});
