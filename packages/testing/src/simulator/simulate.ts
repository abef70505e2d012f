import { Redlock, type RedlockOptions } from "@redlatch/core";
import { type Drain, drainByTurns } from "./drain.ts";
import type { Fault } from "./fault.ts";
import type { HistoryEntry, Violation } from "./history.ts";
import { drawPlan, drawWeights, type FaultWeights } from "./plan.ts";
import { Chance } from "./random.ts";
import { type RedlockClass, scriptsOf } from "./scripts.ts";
import type { ClientSettings } from "./settings.ts";
import type { SimulatedClient } from "./simulated-client.ts";
import { Simulation } from "./simulation.ts";
import { type Traits, traitsOf } from "./traits.ts";
import type { Section } from "./workload.ts";

/** What {@link simulate} takes. */
export interface SimulationOptions {
  /** Which of all possible courses of events: an integer. */
  readonly seed: number;
  /** How many nodes. @defaultValue by the seed: mostly 5, else 1 to 7 */
  readonly nodes?: number | undefined;
  /** How many clients. @defaultValue 3 */
  readonly clients?: number | undefined;
  /** How many acquisitions are wanted at least. @defaultValue 20 */
  readonly acquisitions?: number | undefined;
  /** The class to simulate, e.g. of a changed build. @defaultValue the Redlock of `@redlatch/core` */
  readonly Redlock?: RedlockClass | undefined;
  /** A plan to follow, or how a plan is to be drawn. @defaultValue drawn from the seed */
  readonly faults?: readonly Fault[] | FaultsToDraw | undefined;
  /** Options of the clients' Redlock, over those that the seed gives. */
  readonly options?: Omit<RedlockOptions, "clock" | "random" | "signal"> | undefined;
  /** What is done under the lock, instead of sleeping, extending and so on. */
  readonly section?: Section | undefined;
  /** What each client does, once, instead of the random workload. */
  readonly program?: ((client: SimulatedClient) => Promise<void>) | undefined;
  /** Everything else that the seed would draw. */
  readonly traits?: Partial<Omit<Traits, "settings" | "nodes" | "clients">> | undefined;
  /**
   * Whether a broken promise is excused where nodes had lost the data that it rested on, which only the
   * restart guard protects from. @defaultValue true
   */
  readonly excusesLostData?: boolean | undefined;
  /** @internal How microtasks are drained; for the test of the usual way. */
  readonly drain?: Drain | undefined;
}

/** How a plan is drawn. */
export interface FaultsToDraw {
  /** How many faults. @defaultValue 6 to 14 */
  readonly count?: number;
  /** How often each kind comes, relative to the others; kinds that are left out do not come. */
  readonly weights?: FaultWeights;
}

/** What came of a simulation. */
export interface SimulationResult {
  readonly seed: number;
  /** How many leases were handed out. */
  readonly acquisitions: number;
  /** The plan that was followed. */
  readonly faults: readonly Fault[];
  /** How many events happened. */
  readonly events: number;
  /** How long it took, in milliseconds of true time inside the simulation. */
  readonly durationMs: number;
  /** The promises that were broken: none, if all is well. */
  readonly violations: readonly Violation[];
  /** All that happened, in order. The same seed gives the same history. */
  readonly history: readonly HistoryEntry[];
}

/**
 * Runs the real lock library in a simulated world: clients with clocks of their own, memory nodes, a network
 * that delays, loses, repeats and reorders, processes and nodes that stand still, crash and come back. Judges
 * by true time what the clients see.
 *
 * @example
 * ```ts
 * import { simulate, timelineOf } from "@redlatch/testing/simulator";
 *
 * let counter = 0;
 * const result = await simulate({
 *   seed: 42,
 *   section: async (holding, client) => {
 *     const read = counter;
 *     await client.sleep(5);
 *     if (holding.isHeld()) counter = read + 1;
 *   },
 * });
 * if (result.violations.length > 0) console.log(timelineOf(result));
 * ```
 */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const { seed, Redlock: Class = Redlock } = options;
  if (!Number.isSafeInteger(seed)) throw new TypeError(`seed must be an integer, got ${seed}`);
  const scripts = await scriptsOf(Class);
  const drawn = traitsOf(new Chance(seed, "traits"), options);
  const traits: Traits = {
    ...drawn,
    ...options.traits,
    settings: { ...drawn.settings, ...settingsIn(options.options) },
  };
  const plan = planFor(options, traits);
  const simulation = new Simulation({
    seed,
    Class,
    scripts,
    traits,
    plan,
    acquisitions: options.acquisitions ?? 20,
    options: options.options ?? {},
    section: options.section,
    program: options.program,
    excusesLostData: options.excusesLostData ?? true,
    drain: options.drain ?? drainByTurns,
  });
  await simulation.run();
  const { world, judge } = simulation;
  return {
    seed,
    acquisitions: judge.acquisitions,
    faults: plan,
    events: world.events,
    durationMs: world.nowMs,
    violations: world.violations,
    history: world.history,
  };
}

function planFor({ seed, faults = {} }: SimulationOptions, traits: Traits): readonly Fault[] {
  if (Array.isArray(faults)) return faults;
  const chance = new Chance(seed, "plan");
  const { count = chance.whole(6, 14), weights = drawWeights(chance) } = faults as FaultsToDraw;
  const { nodes, clients, settings } = traits;
  const { ttlMs } = settings;
  return drawPlan(chance, { nodes, clients, ttlMs, horizonMs: ttlMs * 6 }, count, weights);
}

/** The options that the judge has to know. */
function settingsIn(options: SimulationOptions["options"] = {}): Partial<ClientSettings> {
  const { ttlMs, waitMs, nodeTimeoutMs, retryDelayMs, retryJitter, driftFactor, keyPrefix } =
    options;
  const known = { ttlMs, waitMs, nodeTimeoutMs, retryDelayMs, retryJitter, driftFactor, keyPrefix };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}
