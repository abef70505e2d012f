// A client process of the chaos run: its tasks compete for the resource until the guard says stop.
import { setTimeout as sleep } from "node:timers/promises";
import { isRedlockError, type Lease, Redlock } from "@redlatch/core";
import { ioredisNode } from "@redlatch/ioredis";
import { Redis } from "ioredis";
import { connectGuard } from "./guard-connection.ts";
import type { ClientReport, Told } from "./messages.ts";
import { between, chanceOf, pick } from "./random.ts";
import { Stalls } from "./stalls.ts";

const told = JSON.parse(process.argv[2] as string) as Told;
const { ttlMs, nodeTimeoutMs } = told;
/** Who works with a lease leaves so long before its end. */
const MARGIN_MS = 50;
/** A lease's deadline is its round's beginning and this (driftFactor 0.01). */
const VALIDITY_MS = ttlMs - Math.ceil(ttlMs * 0.01) - 2;
const RESOURCES = [["ledger"], ["ledger"], ["stock"], ["ledger", "stock"]];

const chance = chanceOf(told.seed);
const stalls = new Stalls();
const connections = told.urls.map((url) => new Redis(url));
await Promise.all(connections.map((client) => client.ping()));
// The guard takes who comes as ready.
const guard = await connectGuard(told.guardPort);
const nodes = connections.map((client, index) =>
  ioredisNode(client, { name: `node-${index + 1}` }),
);
const redlock = new Redlock(nodes, {
  ttlMs,
  nodeTimeoutMs,
  retryDelayMs: 30,
  owner: `client-${told.client}`,
});

const refused: Record<string, number> = {};
const releases: Record<string, number> = {};
const unexpected: string[] = [];
const total = { acquisitions: 0, longestWaitMs: 0, overrunMs: 0 };
const count = (counts: Record<string, number>, name: string) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

/** Watches a promise's documented bound; gives how long it took. */
async function timed<Value>(boundMs: number, call: () => Promise<Value>): Promise<[Value, number]> {
  const startMs = performance.now();
  const stalledMs = stalls.stalledMs();
  try {
    const value = await call();
    return [value, performance.now() - startMs];
  } finally {
    const tookMs = performance.now() - startMs - (stalls.stalledMs() - stalledMs);
    total.overrunMs = Math.max(total.overrunMs, tookMs - boundMs);
  }
}

async function visit(lease: Lease, resources: readonly string[]): Promise<void> {
  let lostMs: number | undefined;
  const onLost = () => {
    lostMs = Date.now();
  };
  lease.signal.addEventListener("abort", onLost, { once: true });
  const untilMs = performance.now() + between(chance, 1, pick(chance, [5, 5, 50, ttlMs / 2]));
  const { token, deadline } = lease;
  const entry = await guard.enter({ token, resources, deadlineMs: deadline, held: lease.isHeld() });
  while (performance.now() < untilMs && lease.remainingMs() > MARGIN_MS) await sleep(5);
  lease.signal.removeEventListener("abort", onLost);
  await guard.leave(entry, { deadlineMs: lease.deadline, held: lease.isHeld(), lostMs });
}

async function useLease(lease: Lease, resources: readonly string[]): Promise<void> {
  for (let visits = between(chance, 1, 3); visits > 0; visits--) {
    if (chance() < 0.15) await sleep(between(chance, 0, ttlMs / 2));
    if (lease.isHeld() && lease.remainingMs() <= MARGIN_MS) return;
    // Right before the entry: whoever was paused learns here that its lease is gone.
    lease.assertHeld();
    await visit(lease, resources);
  }
}

async function takeTurn(): Promise<void> {
  const resources = pick(chance, RESOURCES);
  const waitMs = pick(chance, [0, 200, 1_000, 3_000]);
  const autoExtend = chance() < 0.3;
  const [lease, waitedMs] = await timed(waitMs + nodeTimeoutMs, () =>
    redlock.acquire(resources, { waitMs, autoExtend }),
  );
  guard.acquired({ roundMs: lease.deadline - VALIDITY_MS, acquiredMs: Date.now() });
  total.acquisitions++;
  total.longestWaitMs = Math.max(total.longestWaitMs, waitedMs);
  try {
    await useLease(lease, resources);
  } finally {
    // Now and then somebody forgets to: the keys must run out by themselves.
    if (autoExtend || chance() > 0.03) {
      const [outcome] = await timed(nodeTimeoutMs, () => lease.release());
      count(releases, outcome);
    }
  }
}

/** Enters without asking anybody. */
async function trespass(): Promise<void> {
  const token = `trespasser-${told.client}-${chance()}`;
  const deadlineMs = Date.now() + ttlMs;
  const entry = await guard.enter({ token, resources: ["ledger"], deadlineMs, held: true });
  await sleep(20);
  await guard.leave(entry, { deadlineMs, held: true });
}

/** Believes in its lease for four times as long as it lasts, as one without a deadline would. */
async function overstay(): Promise<void> {
  const { token } = await redlock.acquire("ledger", { waitMs: 3_000 });
  const deadlineMs = Date.now() + 4 * ttlMs;
  const visit = { token, resources: ["ledger"], deadlineMs, held: true };
  const entry = await guard.enter(visit);
  while (Date.now() < deadlineMs && !guard.stopping) await sleep(20);
  await guard.leave(entry, { deadlineMs, held: true });
}

const turn = { "no-lease": trespass, overstays: overstay }[told.broken as string] ?? takeTurn;

async function work(): Promise<void> {
  while (!guard.stopping) {
    await turn().catch((error) => {
      if (isRedlockError(error)) count(refused, error.code);
      else unexpected.push(String(error?.stack ?? error));
    });
    await sleep(between(chance, 0, 30));
  }
}

await Promise.all(Array.from({ length: told.tasks }, work));
await redlock.close();
for (const connection of connections) connection.disconnect();
guard.end();
stalls.stop();
const report: ClientReport = { ...total, refused, releases, unexpected };
console.log(JSON.stringify(report));
