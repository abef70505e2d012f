import type { Fault, FaultKind } from "./fault.ts";

const KINDS: Readonly<Record<FaultKind, true>> = {
  pause: true,
  suspend: true,
  "crash-client": true,
  "client-clock-jump": true,
  abort: true,
  close: true,
  hang: true,
  "crash-node": true,
  "node-clock-jump": true,
  "node-clock-rate": true,
  flush: true,
  "flush-scripts": true,
  partition: true,
  network: true,
  message: true,
};

/** @throws TypeError for a kind that does not exist. */
export function checkKind(kind: string): void {
  if (!Object.hasOwn(KINDS, kind)) throw new TypeError(`there is no fault of the kind ${kind}`);
}

/**
 * Checks a plan: a fault that happens to nobody would leave everything well, and the plan would prove nothing.
 *
 * @throws TypeError for a kind of fault that does not exist.
 * @throws RangeError for a node or client that does not exist.
 */
export function checkPlan(
  plan: readonly Fault[],
  { nodes, clients }: { readonly nodes: number; readonly clients: number },
): void {
  for (const fault of plan) {
    checkKind(fault.kind);
    const { node, nodes: many = [node] } = fault as { node?: number; nodes?: readonly number[] };
    checkPlaces("node", many, nodes, fault);
    const { client, clients: all = [client] } = fault as {
      client?: number;
      clients?: readonly number[];
    };
    // One more place: for the client that comes at the end.
    checkPlaces("client", all, clients + 1, fault);
  }
}

function checkPlaces(
  what: string,
  places: readonly (number | undefined)[],
  count: number,
  fault: Fault,
): void {
  for (const place of places) {
    if (place === undefined || (Number.isInteger(place) && place >= 0 && place < count)) continue;
    throw new RangeError(`there is no ${what} ${place} for ${JSON.stringify(fault)}`);
  }
}
