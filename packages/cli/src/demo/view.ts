import pc from "picocolors";
import type { Output } from "../terminal.ts";
import { LiveView } from "./live-view.ts";
import type { NodeSet } from "./node-set.ts";
import type { Observation } from "./observer.ts";
import { PlainView } from "./plain-view.ts";
import type { DemoPlan } from "./plan.ts";
import type { RaceSnapshot, Turn } from "./race.ts";

/** What is to be seen at one moment. */
export interface Scene {
  readonly title: string;
  /** How long the demo takes, roughly. */
  readonly totalMs: number;
  readonly elapsedMs: number;
  readonly race: RaceSnapshot;
  /** Absent where the race goes on without the lock. */
  readonly observation?: Observation;
}

/** Shows a demo while it runs. */
export interface View {
  readonly colors: Colors;
  /** Something happened. */
  tell(elapsedMs: number, text: string): void;
  /** A worker updated the counter. */
  turn(elapsedMs: number, turn: Turn): void;
  /** How things stand. */
  show(scene: Scene): void;
  /** Leaves the terminal as it was. Can be called twice. */
  close(): void;
}

export type Colors = ReturnType<typeof pc.createColors>;

/** A table redrawn in place where there is a terminal that it fits into, else one line per event. */
export function viewFor(stdout: Output, plan: DemoPlan, nodes: NodeSet): View {
  if (!stdout.isTTY) return new PlainView(stdout, pc.createColors(false));
  const { isColorSupported } = pc;
  const colors = pc.createColors(isColorSupported);
  const longestName = Math.max(...nodes.nodes.map(({ name }) => name.length));
  // Where the frame would be wrapped or cut, plain lines hide nothing.
  const fits =
    (stdout.columns ?? 0) >= longestName + 48 &&
    (stdout.rows ?? 0) >= nodes.nodes.length + plan.workers + 11;
  const canRedraw = process.env["TERM"] !== "dumb" && fits;
  return canRedraw ? new LiveView(stdout, colors) : new PlainView(stdout, colors);
}
