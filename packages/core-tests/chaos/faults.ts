import { setTimeout as sleep } from "node:timers/promises";
import {
  pollUntil,
  processState,
  type RealServer,
  type ScriptProcess,
  type TcpProxy,
} from "@redlatch/testkit";
import type { LinkKind, NodeFault, Step } from "./plan.ts";

/** What is broken on purpose. */
export interface Targets {
  readonly servers: readonly RealServer[];
  /** By client, then by server. */
  readonly links: readonly (readonly TcpProxy[])[];
  readonly clients: readonly ScriptProcess[];
}

/** A time, by the wall clock, in which no majority could be reached. */
interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Injected {
  /** How often each kind of fault was applied. */
  readonly counts: Readonly<Record<string, number>>;
  readonly outages: readonly Outage[];
}

const BREAK_LINK: Readonly<
  Record<LinkKind, (proxy: TcpProxy, strength: number) => void | Promise<void>>
> = {
  delay: (proxy, strength) =>
    proxy.delay(5 + strength * 400, { of: strength * 1_000 > 500 ? "requests" : "replies" }),
  throttle: (proxy, strength) => proxy.throttle(200 + strength * 4_000),
  loss: (proxy, strength) => proxy.dropReplies(1 + Math.floor(strength * 5)),
  "half-open": (proxy) => proxy.halfOpen(),
  cut: (proxy) => proxy.cut(),
  refuse: (proxy) => proxy.refuse(),
};

/** Applies a plan, each step at its time; resolves when all of it is undone. Rejects if a fault could not be applied. */
export async function inject(plan: readonly Step[], targets: Targets): Promise<Injected> {
  const counts: Record<string, number> = {};
  const outages: Outage[] = [];
  const startMs = performance.now();
  const until = (ms: number) => sleep(Math.max(0, ms - (performance.now() - startMs)));
  /** Per server: to start one again takes as long as it takes, and the next fault may be due by then. */
  const turns = new Map<number, Promise<void>>();
  const inTurn = (server: number, work: () => Promise<void>): Promise<void> => {
    const turn = (turns.get(server) ?? Promise.resolve()).then(work);
    turns.set(
      server,
      turn.catch(() => {}),
    );
    return turn;
  };
  const count = (kind: string) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };

  const run = async (step: Step): Promise<void> => {
    await until(step.startMs);
    if (step.what === "client") {
      count("client pause");
      const child = targets.clients[step.client] as ScriptProcess;
      child.kill("SIGSTOP");
      await until(step.endMs);
      child.kill("SIGCONT");
      return;
    }
    if (step.what === "node") {
      const { fault } = step;
      count(fault.kind);
      await inTurn(fault.server, () => apply(fault, targets));
      await until(step.endMs);
      await inTurn(fault.server, () => undo(fault, targets));
      return;
    }
    count("outage");
    await Promise.all(
      step.faults.map((fault) => inTurn(fault.server, () => apply(fault, targets))),
    );
    const fromMs = Date.now();
    await until(step.endMs);
    outages.push({ fromMs, toMs: Date.now() });
    await Promise.all(step.faults.map((fault) => inTurn(fault.server, () => undo(fault, targets))));
  };
  await Promise.all(plan.map(run));
  return { counts, outages };
}

async function apply(fault: NodeFault, targets: Targets): Promise<void> {
  const server = targets.servers[fault.server] as RealServer;
  const { kind } = fault;
  if (kind === "hang") return server.hang();
  if (kind === "restart") return server.kill();
  await Promise.all(linksOf(fault, targets).map((link) => BREAK_LINK[kind](link, fault.strength)));
}

async function undo(fault: NodeFault, targets: Targets): Promise<void> {
  const server = targets.servers[fault.server] as RealServer;
  if (fault.kind === "hang") return server.resume();
  if (fault.kind === "restart") return server.restart();
  await Promise.all(linksOf(fault, targets).map((link) => link.heal()));
}

const linksOf = ({ clients, server }: NodeFault, { links }: Targets): TcpProxy[] =>
  clients.map((client) => links[client]?.[server] as TcpProxy);

/** Makes sure that no client stays suspended. */
export async function wakeAll(clients: readonly ScriptProcess[]): Promise<void> {
  for (const child of clients) {
    const { pid } = child;
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGCONT");
    await pollUntil(`process ${pid} runs`, () => processState(pid) !== "stopped");
  }
}
