import type { Fate, Fault } from "./fault.ts";
import type { Impairment } from "./link.ts";

/** What happens on the way between the places of two ends. It outlives a client's process. */
export interface Wire {
  readonly impairments: Set<Impairment>;
  /** What happens to single messages, by kind and number: `acquire 3`. */
  readonly fates: Map<string, Fate>;
}

/** The wires between all clients and all nodes. */
export class Wires {
  readonly #wires: readonly (readonly Wire[])[];

  constructor(clients: number, nodes: number) {
    const wire = (): Wire => ({ impairments: new Set(), fates: new Map() });
    this.#wires = Array.from({ length: clients }, () => Array.from({ length: nodes }, wire));
  }

  between(client: number, node: number): Wire {
    const wire = this.#wires[client]?.[node];
    if (!wire) throw new RangeError(`there is no client ${client} or no node ${node}`);
    return wire;
  }

  setFate(fault: Extract<Fault, { kind: "message" }>): void {
    const { client, node, command, nth } = fault;
    this.between(client, node).fates.set(`${command} ${nth}`, fault);
  }

  /** Makes wires worse, all of them if none are named, until the returned function is called. */
  impair(
    impairment: Impairment,
    clients?: readonly number[],
    nodes?: readonly number[],
  ): () => void {
    const impaired = this.#wires.flatMap((wires, client) =>
      wires.filter(
        (_, node) => (clients?.includes(client) ?? true) && (nodes?.includes(node) ?? true),
      ),
    );
    for (const { impairments } of impaired) impairments.add(impairment);
    return () => {
      for (const { impairments } of impaired) impairments.delete(impairment);
    };
  }
}
