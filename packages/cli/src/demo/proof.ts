import { tableText } from "./table.ts";
import { msText } from "./text.ts";
import type { Colors } from "./view.ts";

/** What a race came to. */
export interface RaceResult {
  /** How many times the counter was updated: the expected count. */
  readonly updates: number;
  /** The actual count. */
  readonly counter: number;
  readonly mostInside: number;
  readonly longestWaitMs: number;
  readonly leasesLost: number;
}

/** Both races, and whether the lock left anything on the nodes. */
export interface Proof {
  readonly locked: RaceResult;
  readonly open: RaceResult;
  /** Nodes that still hold a key of this demo's. */
  readonly leftBehind: readonly string[];
}

/** The lock let somebody in, and lost nothing. */
export const proofHolds = ({ locked }: Proof): boolean =>
  locked.updates > 0 && locked.updates === locked.counter;

export function proofText(proof: Proof, colors: Colors): string {
  const { locked, open, leftBehind } = proof;
  const rows = [
    ["acquisitions", String(locked.updates + locked.leasesLost), "-"],
    ["expected count", String(locked.updates), String(open.updates)],
    ["actual count", String(locked.counter), String(open.counter)],
    ["lost updates", String(lostBy(locked)), String(lostBy(open))],
    ["most workers inside at once", String(locked.mostInside), String(open.mostInside)],
    ["longest wait", msText(locked.longestWaitMs), "-"],
    ...(locked.leasesLost > 0 ? [["leases lost in time", String(locked.leasesLost), "-"]] : []),
  ];
  const table = tableText(["", "with the lock", "without it"], rows, [1, 2]);
  const keys = leftBehind.length === 0 ? "" : `\n${leftBehindText(leftBehind)}`;
  return `\n${table}\n\n${verdictText(proof, colors)}${keys}\n`;
}

function verdictText({ locked, open }: Proof, colors: Colors): string {
  if (locked.updates === 0) {
    return colors.red("NO PROOF: no worker got the lock, so nothing was counted.");
  }
  if (lostBy(locked) !== 0) {
    return colors.red(`BROKEN: ${lostBy(locked)} updates were lost under the lock.`);
  }
  const made = `${locked.updates} updates made, ${locked.counter} counted`;
  const beside = `The same race without the lock lost ${lostBy(open)} of ${open.updates}.`;
  return `${colors.green(`PROVED: ${made}, lost updates: 0.`)} ${beside}`;
}

const lostBy = ({ updates, counter }: RaceResult): number => updates - counter;

const leftBehindText = (nodes: readonly string[]): string =>
  `A key of this demo is still on ${nodes.join(", ")}; it expires by itself within two seconds.`;
