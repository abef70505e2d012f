import type { Fault, FaultKind } from "./fault.ts";
import type { Chance } from "./random.ts";

/** What a plan is drawn for. */
export interface PlanFrame {
  readonly nodes: number;
  readonly clients: number;
  readonly ttlMs: number;
  readonly horizonMs: number;
}

/** How often kinds of faults come, relative to each other; 0 switches a kind off. */
export type FaultWeights = Partial<Record<FaultKind, number>>;

/** The usual mix. It keeps the library's assumptions, but for lost data, which is judged for what it is. */
const USUAL_WEIGHTS: FaultWeights = {
  network: 5,
  pause: 3,
  hang: 3,
  partition: 2,
  "crash-node": 2,
  abort: 2,
  suspend: 1.5,
  "crash-client": 1,
  "client-clock-jump": 1.5,
  flush: 0.7,
  "flush-scripts": 0.7,
  "node-clock-jump": 0.7,
  close: 0.7,
};

/** Nodes that lose data while others cannot be reached: where a quorum hangs by a thread. */
const FORGETFUL_WEIGHTS: FaultWeights = {
  flush: 3,
  "crash-node": 3,
  hang: 2,
  partition: 3,
  network: 1,
  pause: 1,
};

/** Draws what mix of faults a seed has. */
export const drawWeights = (chance: Chance): FaultWeights =>
  chance.odds(0.8) ? USUAL_WEIGHTS : FORGETFUL_WEIGHTS;

/** Draws a plan: `count` faults within the horizon, in order of time. */
export function drawPlan(
  chance: Chance,
  frame: PlanFrame,
  count: number,
  weights: FaultWeights,
): Fault[] {
  // A suspended machine is told by its wall clock, a wall clock set back by the monotonic one: a client
  // has one or the other, as both at once are beyond what is promised.
  const sleepers = Array.from({ length: frame.clients }, () => chance.odds(0.5));
  const faults = Array.from({ length: count }, () => {
    const kind = chance.weighted(weights as Record<FaultKind, number>);
    return drawFault(chance, frame, kind, sleepers);
  });
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function drawFault(
  chance: Chance,
  frame: PlanFrame,
  kind: FaultKind,
  sleepers: readonly boolean[],
): Fault {
  const { ttlMs } = frame;
  const atMs = chance.uniform() * frame.horizonMs;
  const client = chance.below(frame.clients);
  const node = chance.below(frame.nodes);
  const lasts = (low: number, high: number): number => ttlMs * chance.between(low, high);
  switch (kind) {
    case "pause":
      return { kind, atMs, client, durationMs: lasts(0.05, 2), repliesFirst: chance.odds(0.5) };
    case "suspend":
      if (!sleepers[client]) return { kind: "pause", atMs, client, durationMs: lasts(0.05, 2) };
      return { kind, atMs, client, durationMs: lasts(0.2, 3), repliesFirst: chance.odds(0.5) };
    case "crash-client":
      return { kind, atMs, client, durationMs: lasts(0.1, 1) };
    case "client-clock-jump": {
      const sizeMs = chance.pick([ttlMs / 4, ttlMs, 5_000, 4_000_000]) * chance.between(0.5, 1);
      return { kind, atMs, client, byMs: sleepers[client] || chance.odds(0.3) ? sizeMs : -sizeMs };
    }
    case "abort":
      return { kind, atMs, client };
    case "close":
      return { kind, atMs, client, graceMs: chance.pick([0, ttlMs / 2, ttlMs * 2]) };
    case "hang":
      return { kind, atMs, node, durationMs: lasts(0.05, 1.5) };
    case "crash-node": {
      const survives = chance.pick(["all", "none", lasts(0.1, 2)] as const);
      return { kind, atMs, node, durationMs: lasts(0.05, 1), survives };
    }
    case "node-clock-jump":
      return { kind, atMs, node, byMs: lasts(-1, 1) };
    case "node-clock-rate":
      return { kind, atMs, node, rate: chance.between(0.5, 2) };
    case "flush":
    case "flush-scripts":
      return { kind, atMs, node };
    case "partition":
      return {
        kind,
        atMs,
        durationMs: lasts(0.1, 1.5),
        clients: someOf(chance, frame.clients),
        nodes: someOf(chance, frame.nodes),
        ...(chance.odds(0.5) && { only: chance.pick(["requests", "replies"] as const) }),
      };
    default:
      return drawNetwork(chance, frame, atMs, client, node);
  }
}

function drawNetwork(
  chance: Chance,
  { ttlMs }: PlanFrame,
  atMs: number,
  client: number,
  node: number,
): Fault {
  const where = chance.weighted({ all: 4, client: 2, node: 2, link: 1 });
  return {
    kind: "network",
    atMs,
    durationMs: ttlMs * chance.between(0.5, 4),
    ...((where === "client" || where === "link") && { client }),
    ...((where === "node" || where === "link") && { node }),
    ...(chance.odds(0.6) && { late: chance.between(0.1, 0.9) }),
    ...(chance.odds(0.4) && { loseReply: chance.between(0.05, 0.6) }),
    ...(chance.odds(0.3) && { loseRequest: chance.between(0.05, 0.5) }),
    ...(chance.odds(0.3) && { duplicate: chance.between(0.05, 0.5) }),
    lateMs: ttlMs * chance.pick([0.02, 0.1, 0.5, 1.2]),
  };
}

/** Some of the indices below `count`, at least one. */
function someOf(chance: Chance, count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index);
  const some = all.filter(() => chance.odds(0.5));
  return some.length > 0 ? some : [chance.below(count)];
}

/** When the last fault of a plan is over, in milliseconds of true time. */
export const endOf = (plan: readonly Fault[]): number =>
  plan.reduce(
    (endMs, fault) => Math.max(endMs, fault.atMs + ("durationMs" in fault ? fault.durationMs : 0)),
    0,
  );
