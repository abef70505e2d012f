import { once } from "node:events";
import { createInterface } from "node:readline";
import { conformanceCases } from "@redlatch/testing/conformance";
import { pollUntil, type ServerPool, startServers } from "@redlatch/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { playIn, reports } from "../src/matrix.ts";
import { startProgram } from "../src/run-program.ts";
import { bun, type Runtime, thisNode } from "../src/runtimes.ts";
import { startBoth, startOneCluster, type ToldServer } from "../src/servers.ts";
import { testedOwnDrivers } from "../src/tested.ts";

/** Why GLIDE's native part does not run on this machine; empty where it does. */
const glideIsMissing = await import("@valkey/valkey-glide").then(
  () => "",
  (error: unknown) => `: its native part does not run on this machine (${error})`,
);

const outcome = { outcome: expect.any(String), tookMs: expect.any(Number) };

/** Starts three servers and a program that locks over them whenever it is asked to. */
async function locking(runtime: Runtime, driver: string, prepare = async (_: ServerPool) => {}) {
  const pool = await startServers(3);
  onTestFinished(() => pool.stop());
  await prepare(pool);
  const servers: ToldServer[] = pool.servers.map(({ name, url }) => ({ name, url }));
  const child = startProgram(runtime, "outage.mjs", JSON.stringify({ driver, servers }));
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  const attempt = async (): Promise<{ outcome: string; tookMs: number }> => {
    child.stdin.write("\n");
    const [line] = await once(lines, "line");
    return JSON.parse(line);
  };
  return { pool, attempt };
}

const stop = (pool: ServerPool) => Promise.all(pool.servers.map((server) => server.kill()));
const start = (pool: ServerPool) => Promise.all(pool.servers.map((server) => server.restart()));

function survivesOutages(runtime: Runtime, driver: string): void {
  it("says soon that dead servers are no quorum, and locks again when they are back", async () => {
    const { pool, attempt } = await locking(runtime, driver);
    expect(await attempt()).toEqual({ ...outcome, outcome: "released" });
    await stop(pool);
    const dead = await attempt();
    expect(dead).toEqual({ ...outcome, outcome: "QUORUM_UNREACHABLE" });
    expect(dead.tookMs).toBeLessThan(2_500);
    await start(pool);
    const released = async () => (await attempt()).outcome === "released";
    await pollUntil("it locks again", released, { timeoutMs: 30_000, intervalMs: 100 });
  });
}

describe.skipIf(!bun.program)("Bun's own client", () => {
  reports(startBoth, (servers) => playIn(bun, testedOwnDrivers.Bun, servers));
  survivesOutages(bun, "bun");

  it("locks also where no server was there at first", async () => {
    const { pool, attempt } = await locking(bun, "bun", async (pool) => void (await stop(pool)));
    expect(await attempt()).toEqual({ ...outcome, outcome: "QUORUM_UNREACHABLE" });
    await start(pool);
    const released = async () => (await attempt()).outcome === "released";
    await pollUntil("it locks", released, { timeoutMs: 30_000, intervalMs: 100 });
  });
});

describe.skipIf(glideIsMissing)(`Valkey GLIDE${glideIsMissing}`, () => {
  reports(startBoth, (servers) => playIn(thisNode, testedOwnDrivers["Node 20"], servers));
  survivesOutages(thisNode, "glide");

  describe("with a cluster", () => {
    reports(
      startOneCluster,
      (servers) => playIn(thisNode, "glide-cluster", servers, { casesOnly: true }),
      conformanceCases,
    );
  });
});
