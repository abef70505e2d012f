import { Redlock } from "@redlatch/core";
import { nodeRedisNode } from "@redlatch/redis";
import { pollUntil, type ServerPool, startServers } from "@redlatch/testkit";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Instance, program, RUN, runDeno } from "./deno.ts";

const CAPACITY = 60;

describe.skipIf(!program)(
  `seats${program ? "" : " (no package has Deno for this machine)"}`,
  () => {
    let pool: ServerPool;
    /** What the instances are configured with: three servers vote, the fourth has the data. */
    let env: { readonly REDIS_URLS: string; readonly STORE_URL: string; readonly CAPACITY: string };
    let instances: Instance[] = [];

    beforeAll(async () => {
      pool = await startServers(4);
      const [STORE_URL = "", ...voters] = pool.servers.map(({ url }) => url);
      env = { REDIS_URLS: voters.join(","), STORE_URL, CAPACITY: String(CAPACITY) };
      const patient = { ...env, LOCK_WAIT_MS: "20000" };
      const hasty = { ...env, LOCK_WAIT_MS: "100" };
      instances = await Promise.all([patient, patient, hasty].map((env) => Instance.start(env)));
    });

    afterAll(async () => {
      await Promise.all(instances.map((instance) => instance.end("SIGKILL")));
      await pool?.stop();
    });

    const leftOf = async (show: string): Promise<number> => {
      const response = await instances[0]!.get(`/shows/${show}`);
      return ((await response.json()) as { left: number }).left;
    };

    /** What is in the store: how many seats each reservation has. */
    const stored = async (show: string): Promise<Record<string, number>> => {
      return JSON.parse(String(await pool.servers[0]!.command("GET", `seats:${show}`)));
    };

    it("are sold once, however many want them at the same time at two instances", async () => {
      const requests = Array.from({ length: 120 }, async (_, index) => {
        const response = await instances[index % 2]!.reserve("hamlet", 1 + (index % 3));
        return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
      });
      const answers = (await Promise.all(requests)) as {
        status: number;
        [name: string]: unknown;
      }[];
      const sold = answers.filter(({ status }) => status === 201);
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused.map(({ status, code }) => `${status} ${code}`)).toEqual(
        Array(refused.length).fill("409 SOLD_OUT"),
      );
      // Nothing that was confirmed is missing, and nothing is there that was not confirmed.
      const confirmed = Object.fromEntries(sold.map(({ id, seats }) => [id, seats]));
      expect(await stored("hamlet")).toEqual(confirmed);
      const seats = sold.reduce((sum, answer) => sum + Number(answer["seats"]), 0);
      expect(seats).toBe(CAPACITY);
      expect(await leftOf("hamlet")).toBe(0);
    });

    it("are refused with 409 and Retry-After while somebody else has the lock", async () => {
      const clients = env.REDIS_URLS.split(",").map((url) => createClient({ url }));
      await Promise.all(clients.map((client) => client.connect()));
      const redlock = new Redlock(clients.map((client) => nodeRedisNode(client)));
      const lease = await redlock.acquire("show:othello");
      const response = await instances[2]!.reserve("othello", 1);
      expect(response.status).toBe(409);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(await response.json()).toMatchObject({ code: "BUSY" });
      expect(await leftOf("othello")).toBe(CAPACITY);

      // Who goes away while waiting takes no seat when the lock comes free: here the first in line.
      const leaving = new AbortController();
      const gone = instances[0]!.reserve("othello", 1, leaving.signal).catch(() => "gone");
      const staying = instances[0]!.reserve("othello", 2);
      setTimeout(() => leaving.abort(), 200);
      expect(await gone).toBe("gone");
      // Its connection was closed before this one asks, so the instance knows.
      expect(await leftOf("othello")).toBe(CAPACITY);
      await lease.release();
      expect((await staying).status).toBe(201);
      expect(Object.values(await stored("othello"))).toEqual([2]);
      for (const client of clients) client.destroy();
    });

    it("are refused with 400, 404 and 405 where the request is wrong", async () => {
      const [instance] = instances as [Instance];
      const outcome = async (request: Promise<Response>) => {
        const { status, headers } = await request;
        return [status, headers.get("allow")];
      };
      for (const seats of [0, 11, 1.5, "2", undefined]) {
        expect(await outcome(instance.reserve("macbeth", seats))).toEqual([400, null]);
      }
      expect(await outcome(instance.get("/"))).toEqual([404, null]);
      expect(await outcome(instance.get("/shows/macbeth/reservations"))).toEqual([405, "POST"]);
      expect(await leftOf("macbeth")).toBe(CAPACITY);
    });

    it("are sold while one Redis server is dead, and refused with 503 while two are", async () => {
      const [, first, second] = pool.servers as [unknown, ...typeof pool.servers];
      await first!.kill();
      expect((await instances[0]!.reserve("lear", 3)).status).toBe(201);
      await second!.hang();
      const response = await instances[2]!.reserve("lear", 3);
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(await response.json()).toMatchObject({ code: "QUORUM_UNREACHABLE" });
      await second!.resume();
      const sold = async () => (await instances[2]!.reserve("lear", 3)).status === 201;
      await pollUntil("seats are sold again", sold, { timeoutMs: 10_000, intervalMs: 50 });
      expect(Object.values(await stored("lear"))).toEqual([3, 3]);
    });

    it("end with the instance: SIGTERM finishes what is under way", async () => {
      const requests = Array.from({ length: 20 }, () => instances[0]!.reserve("cymbeline", 1));
      await Promise.race(requests);
      const ended = instances[0]!.end("SIGTERM");
      const settled = await Promise.allSettled(requests);
      expect(await ended).toBe(0);
      const statuses = settled.map((one) => (one.status === "fulfilled" ? one.value.status : 0));
      const sold = statuses.filter((status) => status === 201).length;
      expect(sold).toBeGreaterThan(0);
      expect(Object.keys(await stored("cymbeline"))).toHaveLength(sold);
      // Nobody has to wait for the ttl of a lock that was left behind.
      expect((await instances[2]!.reserve("cymbeline", 1)).status).toBe(201);
    });

    it("need a configuration", async () => {
      const { code, stderr } = await runDeno(RUN, { REDIS_URLS: "localhost", STORE_URL: "" });
      expect(code).toBe(1);
      expect(stderr.trim().split("\n")).toEqual([
        "the configuration cannot be used:",
        "  - REDIS_URLS: number 1 is no redis:// or rediss:// URL",
        "  - STORE_URL is missing: redis://host:port of the Redis with the data",
      ]);
    });

    it("pass deno check", async () => {
      expect(await runDeno(["check", "--quiet", "src/main.ts"])).toEqual({ code: 0, stderr: "" });
    });
  },
);
