import type { RedisNode } from "@redlatch/core";
import { pollUntil, type RealServer, type ServerPool, startServers } from "@redlatch/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeRedisNode } from "../src/index.ts";
import { closing, drivers, soon } from "./drivers.ts";

const nothing = (): void => {};

/** How many clients the server has, the one that asks included. */
async function clientsOf(server: RealServer): Promise<number> {
  return String(await server.command("CLIENT", "LIST"))
    .trim()
    .split("\n").length;
}

describe.each(drivers)("subscriptions over $driver", ({ createClient, createClientPool }) => {
  let pool: ServerPool;
  let server: RealServer;

  beforeAll(async () => {
    pool = await startServers(1);
    server = pool.servers[0] as RealServer;
  });
  afterAll(() => pool?.stop());

  async function connected(): Promise<Required<Pick<RedisNode, "subscribe">> & RedisNode> {
    const client = closing(createClient({ url: server.url, socket: soon }));
    const node = nodeRedisNode(client);
    await client.connect();
    return node as Required<Pick<RedisNode, "subscribe">> & RedisNode;
  }

  it("share one connection, which is closed after the last one", async () => {
    const node = await connected();
    const before = await clientsOf(server);
    const ends = [await node.subscribe("a", nothing), await node.subscribe("b", nothing)];
    expect(await clientsOf(server)).toBe(before + 1);
    for (const end of ends) await end();
    await pollUntil("the connection is closed", async () => (await clientsOf(server)) === before);
    const again = await node.subscribe("a", nothing);
    expect(await clientsOf(server)).toBe(before + 1);
    await again();
  });

  it("are not offered over a pool, which lends its connections for one command each", () => {
    expect(nodeRedisNode(closing(createClientPool())).subscribe).toBeUndefined();
  });

  it("are refused while the client is not connected", async () => {
    const client = closing(createClient({ url: server.url, socket: soon }));
    const node = nodeRedisNode(client);
    await expect(node.subscribe?.("a", nothing)).rejects.toThrow("not connected");
  });

  it("are made again after the connection was lost", async () => {
    const node = await connected();
    let heard = 0;
    const end = await node.subscribe("a", () => void heard++);
    await server.command("CLIENT", "KILL", "TYPE", "pubsub");
    await pollUntil("a message after the loss", async () => {
      await server.command("PUBLISH", "a", "");
      return heard;
    });
    await end();
  });

  it("are refused where an ACL denies the channel, and leave no connection", async () => {
    await server.command(
      "ACL",
      "SETUSER",
      "quiet",
      "on",
      ">secret",
      "~*",
      "+@all",
      "resetchannels",
    );
    const url = server.url.replace("redis://", "redis://quiet:secret@");
    const client = closing(createClient({ url, socket: soon }));
    const node = nodeRedisNode(client);
    await client.connect();
    const before = await clientsOf(server);
    await expect(node.subscribe?.("a", nothing)).rejects.toThrow(/NOPERM/);
    await pollUntil("the connection is closed", async () => (await clientsOf(server)) === before);
  });
});
