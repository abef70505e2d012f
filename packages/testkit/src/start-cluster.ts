import { launchLocalProcess } from "./local-process.ts";
import { pollUntil } from "./polling.ts";
import type { RealServer, ServerOptions } from "./real-server.ts";
import type { Reply } from "./resp.ts";
import { type ServerPool, startAll } from "./start-servers.ts";

const SLOTS = 16_384;
const FORMED_WITHIN_MS = 30_000;

/**
 * Starts a real Redis Cluster of masters without replicas; resolves when every master says
 * cluster_state:ok. Always local processes: the nodes tell clients their own addresses, which inside
 * containers nobody outside could reach.
 */
export async function startCluster(
  masters = 3,
  options: Omit<ServerOptions, "cluster"> = {},
): Promise<ServerPool> {
  const pool = await startAll(masters, { ...options, cluster: true }, launchLocalProcess);
  try {
    await form(pool.servers);
    return pool;
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

async function form(servers: readonly RealServer[]): Promise<void> {
  await Promise.all(servers.map((server, index) => claimSlots(server, index, servers.length)));
  const [first, ...others] = servers;
  for (const server of others) {
    await first!.command("CLUSTER", "MEET", server.host, String(server.port));
  }
  await Promise.all(
    servers.map((server) =>
      pollUntil(
        `${server.name} knows the whole cluster`,
        () => isComplete(server, servers.length),
        {
          timeoutMs: FORMED_WITHIN_MS,
          intervalMs: 50,
        },
      ),
    ),
  );
}

async function claimSlots(server: RealServer, index: number, count: number): Promise<void> {
  const from = Math.floor((SLOTS * index) / count);
  const to = Math.floor((SLOTS * (index + 1)) / count);
  const slots = Array.from({ length: to - from }, (_, offset) => String(from + offset));
  // Different epochs from the start: nodes that agree on them need not sort it out by collisions.
  await server.command("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1));
  await server.command("CLUSTER", "ADDSLOTS", ...slots);
}

async function isComplete(server: RealServer, count: number): Promise<boolean> {
  const info: Reply = await server.command("CLUSTER", "INFO");
  const facts = String(info).split("\r\n");
  return facts.includes("cluster_state:ok") && facts.includes(`cluster_size:${count}`);
}
