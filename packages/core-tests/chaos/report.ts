import type { ClientReport } from "./messages.ts";
import type { Overlap, Stay } from "./occupancy.ts";

/** What a run found. */
export interface ChaosReport {
  readonly seed: number;
  readonly seconds: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly clients: readonly ClientReport[];
  readonly entries: number;
  readonly late: number;
  readonly unheld: number;
  readonly overlaps: readonly Overlap[];
  /** How many leases were won while no majority could be reached. */
  readonly wonInOutages: number;
  readonly outages: number;
  /** Keys that were left, as `node-1: lock:ledger`. */
  readonly orphans: readonly string[];
  /** What the client processes printed on standard error, and how they ended where not by themselves. */
  readonly complaints: readonly string[];
}

/** Less in a second is no progress, on however slow a machine. */
const LEAST_PER_SECOND = 1;
/** A busy machine's timers are late beside what the client could measure. */
const OVERRUN_LIMIT_MS = 1_000;
const EXPECTED_CODES = ["RESOURCE_HELD", "QUORUM_UNREACHABLE", "LEASE_LOST"];

type Counts = Readonly<Record<string, number>>;

/** Says what is wrong, one sentence each; nothing where the lock kept its promises. */
export function failuresOf(report: ChaosReport): string[] {
  const { seconds, overlaps, wonInOutages, orphans, clients, complaints, unheld } = report;
  const acquisitions = acquisitionsOf(report);
  const least = Math.floor(seconds * LEAST_PER_SECOND);
  const codes = Object.keys(sum(clients.map(({ refused }) => refused)));
  const overrunMs = Math.max(0, ...clients.map((client) => client.overrunMs));
  return [
    ...overlaps.map(overlapLine),
    ...(wonInOutages > 0 ? [`${wonInOutages} leases won without a majority`] : []),
    ...(unheld > 0
      ? [`${unheld} entries right after a check, with leases that were not held`]
      : []),
    ...orphans.map((key) => `orphan key on ${key}`),
    ...complaints,
    ...clients.flatMap(({ unexpected }) => unexpected),
    ...codes.filter((code) => !EXPECTED_CODES.includes(code)).map((code) => `an error ${code}`),
    ...(overrunMs > OVERRUN_LIMIT_MS ? [`a call exceeded its bound by ${ms(overrunMs)}`] : []),
    ...(acquisitions < least ? [`only ${acquisitions} acquisitions, expected ${least}`] : []),
  ];
}

/** A few lines for people. */
export function summaryOf(report: ChaosReport): string {
  const { clients, faults } = report;
  const total = Object.values(faults).reduce((a, b) => a + b, 0);
  const longestMs = Math.max(0, ...clients.map(({ longestWaitMs }) => longestWaitMs));
  const overrunMs = Math.max(0, ...clients.map((client) => client.overrunMs));
  return [
    `chaos seed ${report.seed}, ${report.seconds} s: ${acquisitionsOf(report)} acquisitions, ${report.entries} entries, ${report.overlaps.length} overlaps`,
    `faults: ${total} (${shown(faults)})`,
    `refused: ${shown(sum(clients.map(({ refused }) => refused)))}; releases: ${shown(sum(clients.map(({ releases }) => releases)))}`,
    `longest wait ${ms(longestMs)}, worst overrun of a bound ${ms(overrunMs)}, ${report.late} entries came after their deadline, ${report.outages} outages, ${report.orphans.length} orphan keys`,
  ].join("\n");
}

const acquisitionsOf = ({ clients }: ChaosReport): number =>
  clients.reduce((total, client) => total + client.acquisitions, 0);

const ms = (value: number): string => `${Math.round(value)} ms`;

const shown = (counts: Counts): string =>
  Object.entries(counts)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(", ") || "none";

function sum(all: readonly Counts[]): Counts {
  const totals: Record<string, number> = {};
  for (const [name, count] of all.flatMap(Object.entries<number>)) {
    totals[name] = (totals[name] ?? 0) + count;
  }
  return totals;
}

function overlapLine({ stays: [a, b], forMs }: Overlap): string {
  const one = (stay: Stay) =>
    `client ${stay.client} (${stay.token.slice(0, 8)}, ${stay.resources.join("+")}, ${stay.fromMs} to ${stay.untilMs})`;
  return `overlap of ${forMs} ms: ${one(a)} and ${one(b)}`;
}
