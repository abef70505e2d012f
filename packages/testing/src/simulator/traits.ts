import type { ClockTraits } from "./client-clock.ts";
import type { LinkTraits } from "./link.ts";
import { Chance } from "./random.ts";
import type { ClientSettings } from "./settings.ts";

/** What a seed means besides faults: settings, clocks and the network on a good day. */
export interface Traits {
  readonly nodes: number;
  readonly clients: number;
  readonly tasks: number;
  readonly resources: readonly string[];
  readonly settings: ClientSettings;
  /** How far node clocks may run fast, and client clocks slow. */
  readonly driftUse: number;
  readonly drift: "none" | "any" | "worst";
  readonly link: LinkTraits;
  /** Nodes tell of releases: not always, sometimes twice, sometimes of none. */
  readonly tells: boolean;
}

/** Draws a seed's traits. What is given is not drawn. */
export function traitsOf(
  chance: Chance,
  given: {
    readonly seed: number;
    readonly nodes?: number | undefined;
    readonly clients?: number | undefined;
  },
): Traits {
  const ttlMs = chance.pick([40, 80, 80, 120, 120, 200, 200, 300, 300, 500, 500, 2_500, 2_500]);
  const nodes = chance.weighted({ 5: 12, 3: 4, 4: 4, 6: 1, 2: 1, 7: 1, 1: 0.5 });
  const resources = ["a", "b", "c"].slice(0, Number(chance.weighted({ 1: 3, 2: 4, 3: 2 })));
  const nodeTimeoutMs = Math.max(4, ttlMs * chance.pick([0.05, 0.1, 0.2, 0.4]));
  const typicalDelayMs = chance.pick([0.1, 0.3, 1, nodeTimeoutMs / 8]);
  return {
    nodes: given.nodes ?? Number(nodes),
    clients: given.clients ?? 3,
    tasks: Number(chance.weighted({ 1: 5, 2: 3, 3: 0.5 })),
    resources,
    settings: {
      ttlMs,
      waitMs: ttlMs * chance.pick([1, 3, 6]),
      nodeTimeoutMs,
      retryDelayMs: Math.max(2, ttlMs * chance.pick([0.05, 0.1, 0.2, 0.3])),
      retryJitter: chance.pick([0.5, 0.5, 0.9, 0]),
      driftFactor: chance.pick([0.01, 0.01, 0.05]),
      keyPrefix: "lock:",
    },
    driftUse: 0.98,
    drift: chance.weighted({ none: 1, any: 2, worst: 2 }),
    link: {
      leastDelayMs: typicalDelayMs / 4,
      typicalDelayMs,
      ordered: chance.odds(0.4),
      honoursAbort: chance.odds(0.25),
      rejects: chance.pick([0, 0.5, 1]),
    },
    tells: new Chance(given.seed, "notices").odds(0.5),
  };
}

/** Draws how a client's clocks run: with its drift, a client's slowness takes half of the bound. */
export function clockTraitsOf(chance: Chance, traits: Traits): ClockTraits {
  return {
    rate: 1 - rateOf(chance, traits),
    monotonicOffsetMs: 1_000 + chance.below(1e6),
    wallOffsetMs: 1e9 + chance.below(1e7),
  };
}

/** Draws how fast a node's clock runs: its haste takes the other half of the bound. */
export const nodeRateOf = (chance: Chance, traits: Traits): number => 1 + rateOf(chance, traits);

function rateOf(chance: Chance, { drift, driftUse, settings }: Traits): number {
  const most = (settings.driftFactor / 2) * driftUse;
  if (drift === "none") return 0;
  return drift === "worst" ? most : chance.between(-most, most);
}
