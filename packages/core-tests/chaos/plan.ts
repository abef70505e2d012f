import { between, type Chance, chanceOf, pick } from "./random.ts";

/** Faults of the network between some clients and one server. */
export type LinkKind = "delay" | "throttle" | "loss" | "half-open" | "cut" | "refuse";
/** Faults of a server itself. "restart": killed, and started again at the end of the fault. */
type ServerKind = "hang" | "restart";

export interface NodeFault {
  readonly kind: LinkKind | ServerKind;
  readonly server: number;
  /** Whose connections to the server; all clients for a fault of the server itself. */
  readonly clients: readonly number[];
  /** Milliseconds of delay, bytes per second of throttling, replies lost: from 0 to below 1 of the most. */
  readonly strength: number;
}

/** What happens from `startMs` to `endMs` after the beginning of the run. */
export type Step = { readonly startMs: number; readonly endMs: number } & (
  | { readonly what: "node"; readonly fault: NodeFault }
  | { readonly what: "client"; readonly client: number }
  /** No majority can be reached by anybody. */
  | { readonly what: "outage"; readonly faults: readonly NodeFault[] }
);

export interface PlanSize {
  readonly servers: number;
  readonly clients: number;
  readonly durationMs: number;
  readonly ttlMs: number;
}

const LINK_KINDS = ["delay", "throttle", "loss", "half-open", "cut", "refuse"] as const;
const KINDS = [...LINK_KINDS, "hang", "restart"] as const;
/** Nothing gets through them. */
const HARD_KINDS = ["half-open", "refuse", "hang", "restart"] as const;
const OUTAGES = 0.05;
const CLIENT_PAUSES = 0.25;
/** Of five nodes, so that a majority is left. */
const MOST_FAULTY = 2;
const MOST_PAUSED = 2;

/** Lays out the faults of a run: the same seed and size give the same plan. */
export function planOf(seed: number, size: PlanSize): readonly Step[] {
  const chance = chanceOf(seed);
  const steps: Step[] = [];
  const isActive = (at: number) => (step: Step) => step.endMs > at;
  for (let at = 500; at < size.durationMs; at += between(chance, 50, 500)) {
    const active = steps.filter(isActive(at));
    const what = chance();
    if (what < OUTAGES) {
      // Its beginning is exact only where no other fault ends or begins meanwhile.
      const startMs = Math.max(at, ...active.map(({ endMs }) => endMs)) + 200;
      const endMs = startMs + between(chance, 800, 2 * size.ttlMs);
      steps.push({ what: "outage", startMs, endMs, faults: outage(chance, size) });
      at = endMs + 500;
    } else if (what < OUTAGES + CLIENT_PAUSES) {
      const paused = active.flatMap((step) => (step.what === "client" ? [step.client] : []));
      const client = between(chance, 0, size.clients - 1);
      // Short ones end within a lease, long ones outlive it.
      const endMs = at + between(chance, 30, pick(chance, [300, 2 * size.ttlMs]));
      if (paused.length >= MOST_PAUSED || paused.includes(client)) continue;
      steps.push({ what: "client", startMs: at, endMs, client });
    } else {
      const faulty = active.flatMap((step) => (step.what === "node" ? [step.fault.server] : []));
      const server = between(chance, 0, size.servers - 1);
      const fault = nodeFault(chance, size, server);
      const endMs = at + between(chance, 100, pick(chance, [500, 2_500]));
      if (faulty.length >= MOST_FAULTY || faulty.includes(server)) continue;
      steps.push({ what: "node", startMs: at, endMs, fault });
    }
  }
  return steps.filter(({ endMs }) => endMs <= size.durationMs);
}

const everybody = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function nodeFault(chance: Chance, { clients }: PlanSize, server: number): NodeFault {
  const kind = pick(chance, KINDS);
  const some = everybody(clients).filter(() => chance() < 0.6);
  const isLink = (LINK_KINDS as readonly string[]).includes(kind);
  const reached = isLink && some.length > 0 ? some : everybody(clients);
  return { kind, server, clients: reached, strength: chance() };
}

function outage(chance: Chance, { servers, clients }: PlanSize): NodeFault[] {
  const count = between(chance, Math.ceil(servers / 2), servers);
  const from = between(chance, 0, servers - 1);
  return everybody(count).map((index) => ({
    kind: pick(chance, HARD_KINDS),
    server: (from + index) % servers,
    clients: everybody(clients),
    strength: chance(),
  }));
}
