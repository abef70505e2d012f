import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  pollUntil,
  type RealServer,
  type ScriptProcess,
  spawnScript,
  startServers,
  type TcpProxy,
  tcpProxy,
} from "@redlatch/testkit";
import { type Injected, inject, type Targets, wakeAll } from "./faults.ts";
import { type Guard, startGuard } from "./guard.ts";
import { onMessage } from "./lines.ts";
import type { Broken, ClientReport, Told } from "./messages.ts";
import { planOf } from "./plan.ts";
import type { ChaosReport } from "./report.ts";

export interface ChaosWish {
  readonly seed: number;
  readonly seconds: number;
  /** Makes one of the clients break the rules, without any other fault. */
  readonly broken?: Broken;
}

const SERVERS = 5;
const CLIENTS = 4;
const TASKS = 2;
const TTL_MS = 1_500;
const NODE_TIMEOUT_MS = 200;
/** Each of them translates the sources first; on a busy machine that takes a while. */
const CLIENTS_START_WITHIN_MS = 60_000;
const CLIENTS_END_WITHIN_MS = 30_000;
const SECOND = 1_000;

/**
 * Lets client processes compete for a resource on real servers while servers, processes and the network
 * between them fail, and tells what was seen.
 */
export async function runChaos(wish: ChaosWish): Promise<ChaosReport> {
  const durationMs = wish.seconds * SECOND;
  // Nothing is lost by a kill: lost data without a restart guard is beyond what the algorithm promises.
  await using pool = await startServers(SERVERS, { persistence: "aof-always" });
  const { servers } = pool;
  const guard = await startGuard();
  const links = await Promise.all(
    Array.from({ length: CLIENTS }, () => Promise.all(servers.map((server) => tcpProxy(server)))),
  );
  const crew = links.map((proxies, client) => startClient(wish, client, proxies, guard.port));
  try {
    await Promise.race([
      pollUntil("every client is ready", () => guard.clients === CLIENTS, {
        timeoutMs: CLIENTS_START_WITHIN_MS,
      }),
      ...crew.map(({ ended }) => ended.then(failAtOnce)),
    ]);
    const clients = crew.map(({ child }) => child);
    const size = { servers: SERVERS, clients: CLIENTS, durationMs, ttlMs: TTL_MS };
    const plan = wish.broken ? [] : planOf(wish.seed, size);
    const [injected] = await Promise.all([
      inject(plan, { servers, links, clients }),
      sleep(durationMs),
    ]);
    await calm({ servers, links, clients });
    guard.tellToStop();
    const ends = await Promise.all(crew.map(({ ended }) => ended));
    guard.occupancy.finish(Date.now());
    const orphans = await keysLeft(servers);
    return reportOf(wish, guard, injected, ends, orphans);
  } finally {
    for (const { child } of crew) child.kill("SIGKILL");
    await Promise.all([guard.close(), ...links.flat().map((link) => link.stop())]);
  }
}

interface ClientEnd {
  readonly report: ClientReport | undefined;
  readonly complaints: readonly string[];
}

interface CrewMember {
  readonly child: ScriptProcess;
  readonly ended: Promise<ClientEnd>;
}

function startClient(
  { seed, broken }: ChaosWish,
  client: number,
  proxies: readonly TcpProxy[],
  guardPort: number,
): CrewMember {
  const told: Told = {
    client,
    urls: proxies.map(({ url }) => url),
    guardPort,
    tasks: TASKS,
    ttlMs: TTL_MS,
    nodeTimeoutMs: NODE_TIMEOUT_MS,
    seed: seed * CLIENTS + client,
    broken: client === 0 ? broken : undefined,
  };
  const child = spawnScript(new URL("client.ts", import.meta.url), [JSON.stringify(told)]);
  let report: ClientReport | undefined;
  let printed = "";
  onMessage<ClientReport>(child.stdout, (message) => {
    report = message;
  });
  child.stderr.on("data", (data) => {
    printed += data;
  });
  const ended = once(child, "close").then(([code, signal]): ClientEnd => {
    const complaints = [
      ...(printed === "" ? [] : [`client ${client} printed: ${printed.trim()}`]),
      ...(code === 0 ? [] : [`client ${client} ended with ${code ?? signal}`]),
      ...(report ? [] : [`client ${client} told nothing`]),
    ];
    return { report, complaints };
  });
  return { child, ended };
}

function failAtOnce({ complaints }: ClientEnd): void {
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
}

/** Undoes whatever is left of faults. */
async function calm({ servers, links, clients }: Targets): Promise<void> {
  await wakeAll(clients);
  await Promise.all(links.flat().map((link) => link.heal()));
  for (const server of servers) await server.command("PING");
  // A client that does not end by itself is ended, which shows in the report.
  const impatience = setTimeout(() => {
    for (const child of clients) child.kill("SIGKILL");
  }, CLIENTS_END_WITHIN_MS);
  impatience.unref();
}

/** What is still there after the longest TTL. */
async function keysLeft(servers: readonly RealServer[]): Promise<string[]> {
  const look = async () => {
    const all = await Promise.all(
      servers.map(async (server) => {
        const keys = (await server.command("KEYS", "*")) as readonly string[];
        return keys.map((key) => `${server.name}: ${key}`);
      }),
    );
    return all.flat();
  };
  const timeoutMs = TTL_MS + SECOND;
  await pollUntil("no keys", async () => (await look()).length === 0, {
    timeoutMs,
    intervalMs: 50,
  }).catch(() => {});
  return look();
}

function reportOf(
  { seed, seconds }: ChaosWish,
  { occupancy, won }: Guard,
  { counts, outages }: Injected,
  ends: readonly ClientEnd[],
  orphans: readonly string[],
): ChaosReport {
  // A round that began before the outage may have had its votes by then.
  const wonInOutages = won.filter(({ roundMs, acquiredMs }) =>
    outages.some(({ fromMs, toMs }) => roundMs > fromMs && acquiredMs < toMs),
  ).length;
  return {
    seed,
    seconds,
    faults: counts,
    clients: ends.flatMap(({ report }) => (report ? [report] : [])),
    entries: occupancy.entries,
    late: occupancy.late,
    unheld: occupancy.unheld,
    overlaps: occupancy.overlaps,
    wonInOutages,
    outages: outages.length,
    orphans,
    complaints: ends.flatMap(({ complaints }) => complaints),
  };
}
