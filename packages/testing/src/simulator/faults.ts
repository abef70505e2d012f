import type { MemoryNodeSnapshot } from "../memory-node.ts";
import type { Fault } from "./fault.ts";
import type { Impairment } from "./link.ts";
import type { SimulatedClient } from "./simulated-client.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { Wires } from "./wires.ts";
import type { World } from "./world.ts";

/** What faults happen to. */
export interface Victims {
  readonly world: World;
  readonly nodes: readonly SimulatedNode[];
  readonly wires: Wires;
  /** The client that runs in a place, if one does. */
  client(index: number): SimulatedClient | undefined;
  /** The client's process ends, and another one starts after a while. */
  crash(client: SimulatedClient, afterMs: number): void;
  /** The client closes its Redlock, and another one takes its place. */
  close(client: SimulatedClient, graceMs: number): void;
}

/** Has a fault happen at its time. */
export function schedule(fault: Fault, victims: Victims): void {
  const { world } = victims;
  if (fault.kind === "message") {
    victims.wires.setFate(fault);
    return;
  }
  if (fault.kind === "crash-node") {
    scheduleCrash(fault, victims);
    return;
  }
  world.at(fault.atMs, () => {
    const end = begin(fault, victims);
    if (end && "durationMs" in fault) world.at(world.nowMs + fault.durationMs, end);
  });
}

type CrashOfNode = Extract<Fault, { kind: "crash-node" }>;

function scheduleCrash(fault: CrashOfNode, { world, nodes }: Victims): void {
  const { survives, atMs } = fault;
  const node = nodes[fault.node];
  if (!node) return;
  let snapshot: MemoryNodeSnapshot | undefined;
  if (typeof survives === "number") {
    world.at(atMs - survives, () => {
      snapshot = node.memory.snapshot();
    });
  }
  world.at(atMs, () => {
    if (node.state === "down") return;
    node.crash();
    const survived = typeof survives === "string" ? survives : (snapshot ?? "none");
    world.at(world.nowMs + fault.durationMs, () => node.restart(survived));
  });
}

/** Begins a fault; gives what ends it. */
function begin(fault: Fault, victims: Victims): (() => void) | undefined {
  switch (fault.kind) {
    case "partition": {
      const blocks: Impairment = { blocks: fault.only ?? "both" };
      const what = `${fault.clients.map((c) => `c${c + 1}`)} | ${fault.nodes.map((n) => `n${n + 1}`)}`;
      victims.world.log("net", "is parted", what, blocks.blocks as string);
      return victims.wires.impair(blocks, fault.clients, fault.nodes);
    }
    case "network": {
      const { client, node } = fault;
      victims.world.log("net", "gets bad");
      const one = (index: number | undefined) => (index === undefined ? undefined : [index]);
      return victims.wires.impair(fault, one(client), one(node));
    }
    case "hang":
    case "flush":
    case "flush-scripts":
    case "node-clock-jump":
    case "node-clock-rate":
      return beginOnNode(fault, victims.nodes[fault.node]);
    case "message":
    case "crash-node":
      return undefined;
    default: {
      const client = victims.client(fault.client);
      return client && beginOnClient(fault, client, victims);
    }
  }
}

type OnNode = Extract<Fault, { node: number }>;

function beginOnNode(fault: OnNode, node: SimulatedNode | undefined): (() => void) | undefined {
  switch (fault.kind) {
    case "hang":
      node?.hang();
      return () => node?.resume();
    case "flush":
      node?.flush();
      break;
    case "flush-scripts":
      node?.flushScripts();
      break;
    case "node-clock-jump":
      node?.jump(fault.byMs);
      break;
    case "node-clock-rate":
      node?.runAt(fault.rate);
      break;
    default:
  }
  return undefined;
}

type OnClient = Extract<Fault, { client: number }>;

function beginOnClient(
  fault: OnClient,
  client: SimulatedClient,
  victims: Victims,
): (() => void) | undefined {
  const { process } = client;
  const { beliefs } = client.judge;
  switch (fault.kind) {
    case "pause":
      if (process.state !== "running") return undefined;
      process.pause();
      return () => process.resume(fault.repliesFirst);
    case "suspend":
      if (process.state !== "running") return undefined;
      process.pause();
      process.clock.suspend();
      beliefs.reconsider(process);
      return () => {
        process.clock.resume();
        process.resume(fault.repliesFirst);
        beliefs.reconsider(process);
      };
    case "client-clock-jump":
      victims.world.log(client.id, "wall clock jumps by", fault.byMs);
      process.clock.jump(fault.byMs);
      process.lastJumpMs = victims.world.nowMs;
      beliefs.reconsider(process);
      break;
    case "abort":
      process.deliver(() => client.abort());
      break;
    case "crash-client":
      victims.crash(client, fault.durationMs);
      break;
    case "close":
      process.deliver(() => victims.close(client, fault.graceMs));
      break;
    default:
  }
  return undefined;
}
