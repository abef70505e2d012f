import type { RedlockError } from "./errors.ts";
import type { Hold } from "./hold.ts";

/** So many leases in a row a process passes on inside before others get their turn, where they can be told. */
const MAX_PASSES = 8;

/** One acquisition in this process: waiting, competing on Redis, or holding. */
export class Ticket {
  readonly resources: readonly string[];
  /** The lease, once there is one. */
  hold: Hold | undefined;
  /** How the last attempt failed, told of any resources. */
  verdict: ((resources: readonly string[]) => RedlockError) | undefined;
  /** Called when the turn comes. */
  onTurn: (() => void) | undefined;
  /** How many leases of this process in a row came before this one. */
  passes = 0;
  /** Whether others get their turn before this one. */
  yields = false;
  /** Since when, by the monotonic clock, the resource went from one lease of this process to the next. */
  localSinceMs: number | undefined;

  constructor(resources: readonly string[]) {
    this.resources = resources;
  }

  /** Whether it ends the row. */
  get isLast(): boolean {
    return this.passes >= MAX_PASSES;
  }
}

/**
 * Lines up the acquisitions of one Redlock, first in first out per resource, so that only one of them
 * competes on Redis. Several resources are entered at once, which rules out deadlock.
 */
export class LocalQueue {
  readonly #lines = new Map<string, Set<Ticket>>();
  readonly #holders = new Map<string, Ticket>();

  /** Joins the line of each resource. */
  enter(ticket: Ticket): void {
    for (const resource of ticket.resources) {
      const line = this.#lines.get(resource);
      if (line) line.add(ticket);
      else this.#lines.set(resource, new Set([ticket]));
    }
  }

  /** Takes the resources' place of the holder, from the line or past it (tryAcquire, restore). */
  hold(ticket: Ticket, hold: Hold): void {
    ticket.hold = hold;
    for (const resource of ticket.resources) {
      this.#holders.set(resource, ticket);
      this.#remove(resource, ticket);
    }
  }

  /** Leaves the lines, or gives the holder's place up; whoever is next gets its turn. */
  leave(ticket: Ticket): void {
    for (const resource of ticket.resources) {
      if (this.#holders.get(resource) === ticket) this.#holders.delete(resource);
      this.#remove(resource, ticket);
    }
    for (const resource of ticket.resources) {
      const [next] = this.#lines.get(resource) ?? [];
      if (!next?.onTurn || this.ahead(next)) continue;
      next.localSinceMs = ticket.localSinceMs;
      next.passes = ticket.isLast ? 0 : ticket.passes + 1;
      next.yields = ticket.isLast;
      next.onTurn();
    }
  }

  /** Whether somebody of this process takes all resources of `ticket` over as soon as it has released them. */
  hasNext({ resources }: Ticket): boolean {
    const [next] = this.#lines.get(resources[0] as string) ?? [];
    if (!next || this.ahead(next)) return false;
    return resources.every((resource) => next.resources.includes(resource));
  }

  /** Who comes before `ticket`: a holder of one of its resources, else the first of a line. */
  ahead(ticket: Ticket): Ticket | undefined {
    const holder = this.holder(ticket.resources);
    if (holder) return holder;
    for (const resource of ticket.resources) {
      const [first] = this.#lines.get(resource) ?? [];
      if (first && first !== ticket) return first;
    }
    return undefined;
  }

  /** Who of this process holds one of the resources. */
  holder(resources: readonly string[]): Ticket | undefined {
    for (const resource of resources) {
      const holder = this.#holders.get(resource);
      if (holder?.hold?.isHeld()) return holder;
    }
    return undefined;
  }

  #remove(resource: string, ticket: Ticket): void {
    const line = this.#lines.get(resource);
    if (line?.delete(ticket) && line.size === 0) this.#lines.delete(resource);
  }
}
