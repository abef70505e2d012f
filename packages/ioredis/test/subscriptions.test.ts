import type { RedisNode } from "@redlatch/core";
import { pollUntil, type RealServer, type ServerPool, startServers } from "@redlatch/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ioredisNode } from "../src/index.ts";
import { closing, drivers, send, soon } from "./drivers.ts";

const nothing = (): void => {};

/** How many clients the server has, the one that asks included. */
async function clientsOf(server: RealServer): Promise<number> {
  return String(await server.command("CLIENT", "LIST"))
    .trim()
    .split("\n").length;
}

describe.each(drivers)("subscriptions over $driver", ({ Redis }) => {
  let pool: ServerPool;
  let server: RealServer;

  beforeAll(async () => {
    pool = await startServers(1);
    server = pool.servers[0] as RealServer;
  });
  afterAll(() => pool?.stop());

  async function connected(): Promise<Required<Pick<RedisNode, "subscribe">> & RedisNode> {
    const node = ioredisNode(closing(new Redis(server.url, { ...soon, keyPrefix: "app:" })));
    await send(node, ["PING"]);
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

  it("name channels as they are, whatever the client puts before keys", async () => {
    const node = await connected();
    let heard = 0;
    const end = await node.subscribe("lock:a", () => void heard++);
    await server.command("PUBLISH", "lock:a", "");
    await pollUntil("the message", () => heard === 1);
    await end();
  });

  it("wait for their connection, also where the client queues nothing", async () => {
    const client = closing(new Redis(server.url, { ...soon, enableOfflineQueue: false }));
    const node = ioredisNode(client);
    await send(node, ["PING"]);
    const end = await node.subscribe?.("a", nothing);
    await end?.();
  });

  it("are refused while the client is not connected, and look for no server", async () => {
    const client = closing(new Redis(server.url, { ...soon, maxRetriesPerRequest: null }));
    const node = ioredisNode(client);
    await send(node, ["PING"]);
    const before = await clientsOf(server);
    client.disconnect();
    await pollUntil("the client is disconnected", () => client.status === "end");
    await expect(node.subscribe?.("a", nothing)).rejects.toThrow("not connected");
    expect(await clientsOf(server)).toBeLessThan(before);
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
    const node = ioredisNode(closing(new Redis(url, soon)));
    await send(node, ["PING"]);
    const before = await clientsOf(server);
    await expect(node.subscribe?.("a", nothing)).rejects.toThrow(/NOPERM/);
    await pollUntil("the connection is closed", async () => (await clientsOf(server)) === before);
  });
});
