import type { Command, RedisNode } from "@redlatch/core";
import { memoryNode } from "@redlatch/testing";
import { expect, it } from "vitest";
import { Switch } from "../src/demo/switch.ts";

const send = (node: RedisNode, command: Command): Promise<unknown> =>
  node.send(command, { key: command[1] ?? "", signal: new AbortController().signal });

function switched() {
  const server = memoryNode();
  const theSwitch = new Switch("redis-a");
  return { server, theSwitch, node: theSwitch.guard(server) };
}

it("lets commands through and names the node", async () => {
  const { server, node } = switched();
  expect(node.name).toBe("redis-a");
  await send(node, ["SET", "a", "1"]);
  expect(server.execute(["GET", "a"])).toBe("1");
});

it("refuses commands while the node counts as killed", async () => {
  const { server, theSwitch, node } = switched();
  theSwitch.kill();
  await expect(send(node, ["SET", "a", "1"])).rejects.toThrow("refused by the demo's switch");
  expect(server.execute(["GET", "a"])).toBeNull();
  theSwitch.restart();
  expect(await send(node, ["SET", "a", "2"])).toBe("OK");
});

it("withholds commands while the node hangs, and sends them in order afterwards", async () => {
  const { server, theSwitch, node } = switched();
  theSwitch.hang();
  const replies = [send(node, ["SET", "a", "1"]), send(node, ["SET", "a", "2"])];
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.execute(["GET", "a"])).toBeNull();
  theSwitch.resume();
  await Promise.all(replies);
  expect(server.execute(["GET", "a"])).toBe("2");
});
