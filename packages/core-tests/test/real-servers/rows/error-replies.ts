import { isRedlockError, type Redlock, type RedlockEvents } from "@redlatch/core";
import { pollUntil, type RealServer, type ServerOptions } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

interface Fault {
  readonly reply: string;
  readonly options?: ServerOptions;
  /** Makes the server give the reply. */
  spoil?(server: RealServer): Promise<unknown>;
}

/** Enough keys, loaded so slowly that it lasts for the whole test. */
async function loadSlowly(server: RealServer): Promise<void> {
  await server.command("DEBUG", "POPULATE", "30000");
  await server.command("CONFIG", "SET", "key-load-delay", "1000");
  server.command("DEBUG", "RELOAD").catch(() => {});
  const state = () => server.command("PING").then(String, String);
  await pollUntil(`${server.name} is loading`, async () => (await state()).includes("LOADING"));
}

const FAULTS: readonly Fault[] = [
  { reply: "WRONGTYPE", spoil: (server) => server.command("LPUSH", "lock:{a}1", "1") },
  { reply: "READONLY", spoil: (server) => server.command("REPLICAOF", "127.0.0.1", "1") },
  { reply: "OOM", spoil: (server) => server.command("CONFIG", "SET", "maxmemory", "1") },
  { reply: "NOAUTH", options: { password: "secret" } },
  { reply: "CLUSTERDOWN", options: { cluster: true } },
  {
    reply: "LOADING",
    options: {
      args: [
        ...["--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024"],
        ...["--rdbcompression", "no"],
      ],
    },
    spoil: loadSlowly,
  },
];

const fullText = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${fullText(error.cause)}` : String(error);

export function errorReplies(harness: Harness): void {
  describe(`error replies (${harness.title})`, () => {
    const bed = new Testbed(harness);

    /** As many spoilt servers as asked for, the rest healthy. The URL never has the password. */
    async function redlockWith(spoilt: number, { options, spoil }: Fault): Promise<Redlock> {
      const { servers } = await bed.startMore(spoilt, options);
      const urls = servers.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
      // Connected before the fault, where a driver can be.
      const nodes =
        options?.password || options?.cluster ? bed.nodes(urls) : await bed.connectedNodes(urls);
      const healthy = await bed.connectedNodes(bed.servers.slice(spoilt));
      await Promise.all(servers.map((server) => spoil?.(server)));
      return bed.redlock([...nodes, ...healthy], { nodeTimeoutMs: bed.ttlMs / 5 });
    }

    describe.each(FAULTS)("$reply", (fault) => {
      it("is a failed vote with that cause, and a minority of them hinders nobody", async () => {
        const redlock = await redlockWith(2, fault);
        const failed: RedlockEvents["nodeFailed"][] = [];
        redlock.on("nodeFailed", (event) => failed.push(event));
        const lease = await redlock.acquire("{a}1", { waitMs: 0 });
        await pollUntil("every node has voted", () => lease.votes.length === 5);
        expect(lease.votes.map(({ outcome }) => outcome).sort()).toEqual([
          ...["failed", "failed"],
          ...["granted", "granted", "granted"],
        ]);
        expect(await lease.release()).toBe("released");
        for (const { cause } of failed) expect(fullText(cause)).toContain(fault.reply);
        expect(failed.length).toBeGreaterThanOrEqual(2);
        await bed.expectNothingLeft();
      });

      it("makes the quorum unreachable as a majority, and the error tells each cause", async () => {
        const redlock = await redlockWith(3, fault);
        const error = await redlock.acquire("{a}1", { waitMs: 0 }).catch((reason) => reason);
        expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
        const causes = error.votes.flatMap((vote: { cause?: Error }) => vote.cause ?? []);
        expect(causes).toHaveLength(3);
        for (const cause of causes) expect(fullText(cause)).toContain(fault.reply);
        await bed.expectNothingLeft();
      });
    });

    it("CROSSSLOT is a failed vote whose message explains hash tags", async () => {
      const takeAllSlots = (server: RealServer) =>
        pollUntil("the cluster is up", async () => {
          await server.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383").catch(() => {});
          return String(await server.command("CLUSTER", "INFO")).includes("cluster_state:ok");
        });
      const { servers } = await bed.startMore(3, { cluster: true });
      await Promise.all(servers.map(takeAllSlots));
      const healthy = await bed.connectedNodes(bed.servers.slice(3));
      const redlock = bed.redlock([...(await bed.connectedNodes(servers)), ...healthy]);
      const error = await redlock.acquire(["a", "b"], { waitMs: 0 }).catch((reason) => reason);
      expect(isRedlockError(error, "QUORUM_UNREACHABLE")).toBe(true);
      expect(error.message).toMatch(/CROSSSLOT.*hash tag/);
      const lease = await redlock.acquire(["{a}1", "{a}2"], { waitMs: 0 });
      expect(await lease.release()).toBe("released");
      await bed.expectNothingLeft();
    });

    it.each(["+@all -publish", "+@all resetchannels"])(
      "a release counts as released where PUBLISH is forbidden: %s",
      async (rules) => {
        for (const server of bed.servers) {
          await server.command("ACL", "SETUSER", "app", "on", ">pw", "~*", ...rules.split(" "));
        }
        const endpoints = bed.servers.map(({ host, port }) => ({
          url: `redis://app:pw@${host}:${port}`,
        }));
        const redlock = bed.redlock(await bed.connectedNodes(endpoints));
        const failed: unknown[] = [];
        redlock.on("nodeFailed", (event) => failed.push(event));
        const lease = await redlock.acquire("a");
        await lease.extend();
        expect(await lease.release()).toBe("released");
        await bed.expectNothingLeft();
        expect(failed).toEqual([]);
      },
    );
  });
}
