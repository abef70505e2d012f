import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerPool, startCluster } from "../src/index.ts";

describe("a cluster of three masters", () => {
  let cluster: ServerPool;
  beforeAll(async () => {
    cluster = await startCluster(3);
  });
  afterAll(() => cluster?.stop());

  it("serves all slots from the moment it is handed out", async () => {
    for (const server of cluster.servers) {
      const ranges = (await server.command("CLUSTER", "SLOTS")) as [number, number, unknown[]][];
      const slots = ranges.map(([from, to]) => to - from + 1);
      expect(slots.reduce((sum, count) => sum + count, 0)).toBe(16_384);
    }
  });

  it("sends clients on to the master of the key's slot, at an address they can reach", async () => {
    const ports = new Set(cluster.servers.map((server) => server.port));
    const [first, , third] = cluster.servers;
    // "foo" lies in slot 12182: the last third.
    await expect(first!.command("SET", "foo", "1")).rejects.toThrow(
      `MOVED 12182 127.0.0.1:${third!.port}`,
    );
    expect(await third!.command("SET", "foo", "1")).toBe("OK");
    expect(ports.size).toBe(3);
  });

  it("says CROSSSLOT when one command touches two slots", async () => {
    await expect(cluster.servers[0]!.command("MSET", "foo", "1", "bar", "2")).rejects.toThrow(
      /^CROSSSLOT/,
    );
  });

  it("keeps its place after a restart", async () => {
    const third = cluster.servers[2]!;
    await third.restart();
    await expect
      .poll(() => third.command("SET", "foo", "2").catch(String), { timeout: 15_000 })
      .toBe("OK");
  });
});
