import { pollUntil } from "./polling.ts";
import type { RealServer } from "./real-server.ts";

/** Turns a node of another cluster into a replica of this one; resolves once all `masters` know it. */
export async function replicate(
  replica: RealServer,
  master: RealServer,
  masters: readonly RealServer[],
): Promise<void> {
  await replica.command("CLUSTER", "RESET", "HARD");
  await replica.command("CLUSTER", "MEET", master.host, String(master.port));
  const id = String(await master.command("CLUSTER", "MYID"));
  await pollUntil("the replica replicates", async () => {
    await replica.command("CLUSTER", "REPLICATE", id);
    return true;
  });
  await pollUntil(
    "the replica is linked and known to all",
    async () => {
      const info = String(await replica.command("INFO", "replication"));
      const slots = await Promise.all(masters.map((server) => server.command("CLUSTER", "SLOTS")));
      const known = slots.every((reply) => JSON.stringify(reply).includes(`${replica.port}`));
      return info.includes("master_link_status:up") && known;
    },
    { timeoutMs: 30_000, intervalMs: 50 },
  );
}
