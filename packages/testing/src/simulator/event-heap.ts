/** Something that happens at a moment of true time. */
export interface SimulatedEvent {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Events by time; at the same time in the order in which they were added. */
export class EventHeap {
  readonly #events: SimulatedEvent[] = [];
  #added = 0;

  get size(): number {
    return this.#events.length;
  }

  add(atMs: number, run: () => void): void {
    const events = this.#events;
    const event = { atMs, order: this.#added++, run };
    let index = events.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = events[parent] as SimulatedEvent;
      if (!isBefore(event, above)) break;
      events[index] = above;
      index = parent;
    }
    events[index] = event;
  }

  /** Takes the next event out. */
  take(): SimulatedEvent | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (last && events.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: SimulatedEvent): void {
    const events = this.#events;
    const { length } = events;
    let index = 0;
    for (let child = 1; child < length; child = 2 * index + 1) {
      const right = child + 1;
      if (right < length && isBefore(at(events, right), at(events, child))) child = right;
      if (!isBefore(at(events, child), event)) break;
      events[index] = at(events, child);
      index = child;
    }
    events[index] = event;
  }
}

const at = (events: SimulatedEvent[], index: number): SimulatedEvent =>
  events[index] as SimulatedEvent;

const isBefore = (a: SimulatedEvent, b: SimulatedEvent): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
