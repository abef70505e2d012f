import type { Leaving, Visit } from "./messages.ts";

/** One stay in the resource, from the entry until the holder left or stopped to believe its lease. */
export interface Stay {
  readonly client: number;
  readonly token: string;
  readonly resources: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Overlap {
  readonly stays: readonly [Stay, Stay];
  readonly forMs: number;
}

type OpenStay = Omit<Stay, "untilMs"> & { readonly deadlineMs: number };

/**
 * Judges who was inside at the same time with leases that both believed valid. Each stay is judged when it
 * is over: only then its holder has told of every extension.
 */
export class Occupancy {
  readonly overlaps: Overlap[] = [];
  entries = 0;
  /** Came after their deadline: between the holder's check and its entry it was paused. */
  late = 0;
  /** Came although their holders knew better. */
  unheld = 0;
  readonly #open = new Map<string, OpenStay>();
  #over: Stay[] = [];

  enter(client: number, entry: number, visit: Visit, nowMs: number): void {
    const { token, resources, deadlineMs, held } = visit;
    this.entries++;
    if (!held) this.unheld++;
    if (deadlineMs <= nowMs) this.late++;
    const stay = { client, token, resources, deadlineMs, fromMs: nowMs };
    this.#open.set(`${client}/${entry}`, stay);
  }

  leave(client: number, entry: number, leaving: Leaving, nowMs: number): void {
    const stay = this.#open.get(`${client}/${entry}`);
    if (!stay) throw new Error(`client ${client} leaves ${entry}, where it never was`);
    this.#open.delete(`${client}/${entry}`);
    const { deadlineMs, lostMs = Infinity } = leaving;
    this.#judge({ ...stay, untilMs: Math.min(nowMs, deadlineMs, lostMs) });
  }

  /** Ends the stays that nobody left, at their deadlines. */
  finish(nowMs: number): void {
    for (const [key, stay] of this.#open) {
      this.#open.delete(key);
      this.#judge({ ...stay, untilMs: Math.min(nowMs, stay.deadlineMs) });
    }
  }

  #judge(stay: Stay): void {
    for (const other of this.#over) {
      const forMs = overlapMs(stay, other);
      if (forMs > 0) this.overlaps.push({ stays: [other, stay], forMs });
    }
    // What ended before everything that is still open began can overlap with nothing to come.
    const earliestMs = Math.min(stay.fromMs, ...[...this.#open.values()].map((o) => o.fromMs));
    this.#over = [...this.#over, stay].filter(({ untilMs }) => untilMs > earliestMs);
  }
}

function overlapMs(a: Stay, b: Stay): number {
  // One lease may be used by its holder as often as it likes.
  if (a.token === b.token || !a.resources.some((name) => b.resources.includes(name))) return 0;
  return Math.min(a.untilMs, b.untilMs) - Math.max(a.fromMs, b.fromMs);
}
