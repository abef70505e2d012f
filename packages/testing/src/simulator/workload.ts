import { isRedlockError, type LeaseHandle } from "@redlatch/core";
import type { Holding } from "./holding.ts";
import type { SimulatedClient } from "./simulated-client.ts";

/** What the workload needs of the simulation around it. */
export interface Surroundings {
  readonly resources: readonly string[];
  /** No more acquisitions are wanted. */
  isStopping(): boolean;
  /** Sends a handle to some client, which adopts the lease and goes on with it. */
  send(handle: LeaseHandle, from: SimulatedClient): void;
  /** What is done under the lock. */
  readonly section: Section | undefined;
}

/** A critical section of your own: it runs while the lease is held. */
export type Section = (holding: Holding, client: SimulatedClient) => Promise<void>;

/** One task of a client: uses the library in all ways, again and again. */
export async function work(client: SimulatedClient, around: Surroundings): Promise<void> {
  while (!around.isStopping() && !client.isClosed) {
    try {
      await actOnce(client, around);
    } catch (error) {
      expected(client, error);
    }
    await client.sleep(client.chance.uniform() ** 2 * client.settings.ttlMs * 0.3);
  }
}

/** Adopts a lease that another client sent, and ends it in some way. */
export async function adopt(
  client: SimulatedClient,
  around: Surroundings,
  handle: LeaseHandle,
): Promise<void> {
  try {
    const autoExtend = client.chance.odds(0.3);
    await hold(client, around, await client.restore(handle, { autoExtend }), autoExtend);
  } catch (error) {
    expected(client, error);
  }
}

/** Errors that callers of the library must reckon with. */
function expected(client: SimulatedClient, error: unknown): void {
  if (isRedlockError(error) || String(error).includes("the caller aborted")) return;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  client.violate("error", `${client.id} got an error that nobody documented: ${text}`);
}

async function actOnce(client: SimulatedClient, around: Surroundings): Promise<void> {
  const { chance, settings } = client;
  const resource = pickResource(client, around);
  const ttlMs = chance.odds(0.2) ? settings.ttlMs * 2 : undefined;
  const owner = chance.odds(0.2) ? `label of ${client.id}` : undefined;
  const minHoldMs = chance.odds(0.15) ? chance.uniform() * settings.ttlMs : undefined;
  const waitMs = chance.odds(0.1) ? 0 : undefined;
  const maxHoldMs = chance.odds(0.15) ? settings.ttlMs * chance.between(0.3, 3) : undefined;
  const options = { ttlMs, owner, minHoldMs, maxHoldMs };
  switch (chance.weighted({ using: 3, acquire: 5, tryAcquire: 2 })) {
    case "using":
      return client.using(resource, { ...options, waitMs }, (holding) =>
        workUnder(client, around, holding),
      );
    case "acquire": {
      const autoExtend = chance.odds(0.2);
      const holding = await client.acquire(resource, { ...options, waitMs, autoExtend });
      return hold(client, around, holding, autoExtend);
    }
    default: {
      const holding = await client.tryAcquire(resource, options);
      if (holding) await hold(client, around, holding, false);
    }
  }
}

function pickResource(client: SimulatedClient, { resources }: Surroundings): string | string[] {
  const one = client.chance.pick(resources);
  if (resources.length === 1 || client.chance.odds(0.8)) return one;
  return client.chance.odds(0.5) ? [...resources] : resources.slice(0, 2).reverse();
}

/** Holds a lease for a while, then ends it early, late or never, or sends it to somebody else. */
async function hold(
  client: SimulatedClient,
  around: Surroundings,
  holding: Holding,
  autoExtend: boolean,
): Promise<void> {
  await workUnder(client, around, holding).catch((error) => expected(client, error));
  switch (client.chance.weighted({ release: 12, late: 2, never: autoExtend ? 0 : 1, send: 2.5 })) {
    case "never":
      return;
    case "send":
      if (!holding.isHeld()) break;
      around.send(holding.handOver(), client);
      // Leaving the scope of the lease must not release it now.
      if (client.chance.odds(0.5)) await holding.release();
      return;
    case "late":
      await client.sleep(holding.lease.remainingMs() + client.chance.uniform() * 10);
      break;
    default:
  }
  const released = holding.release();
  if (client.chance.odds(0.1)) await holding.release();
  await released;
}

async function workUnder(
  client: SimulatedClient,
  around: Surroundings,
  holding: Holding,
): Promise<void> {
  if (around.section) return around.section(holding, client);
  const { chance, settings } = client;
  for (let steps = Number(chance.weighted({ 1: 4, 2: 3, 4: 2 })); steps > 0; steps--) {
    await client.sleep(chance.uniform() ** 2 * settings.ttlMs * (chance.odds(0.1) ? 2 : 0.5));
    if (!holding.isHeld()) return;
    if (chance.odds(0.4)) await extend(client, holding);
  }
}

async function extend(client: SimulatedClient, holding: Holding): Promise<void> {
  const { chance, settings } = client;
  const { ttlMs } = settings;
  const extension = holding.extend(
    chance.pick([
      undefined,
      ttlMs,
      ttlMs * 2,
      Math.ceil(ttlMs / 2),
      { addMs: Math.ceil(ttlMs / 3) },
    ]),
  );
  // Sometimes nobody waits for it, and the release comes while it is in flight.
  const waits = chance.odds(0.7);
  const outcome = extension.catch((error) => expected(client, error));
  if (waits) await outcome;
  if (chance.odds(0.1)) await holding.extend();
}
