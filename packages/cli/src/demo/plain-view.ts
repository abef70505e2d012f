import type { Output } from "../terminal.ts";
import type { Observation } from "./observer.ts";
import type { Turn } from "./race.ts";
import { msText, secondsText } from "./text.ts";
import type { Colors, Scene, View } from "./view.ts";

const NODES_EVERY_MS = 2_000;

/** One line per event, for pipes, files and small terminals. */
export class PlainView implements View {
  readonly colors: Colors;
  readonly #stdout: Output;
  #states = "";
  #shownAtMs = Number.NEGATIVE_INFINITY;

  constructor(stdout: Output, colors: Colors) {
    this.#stdout = stdout;
    this.colors = colors;
  }

  tell(elapsedMs: number, text: string): void {
    this.#stdout.write(`${secondsText(elapsedMs)}  ${text}\n`);
  }

  turn(elapsedMs: number, { worker, waitedMs, read }: Turn): void {
    this.tell(elapsedMs, `${worker} waited ${msText(waitedMs)}, counted ${read} -> ${read + 1}`);
  }

  /** A line when a node's state has changed, and one now and then. */
  show({ elapsedMs, observation }: Scene): void {
    if (!observation) return;
    const states = observation.nodes.map(({ state }) => state).join();
    if (states === this.#states && elapsedMs - this.#shownAtMs < NODES_EVERY_MS) return;
    this.#states = states;
    this.#shownAtMs = elapsedMs;
    this.tell(elapsedMs, nodesLine(observation));
  }

  close(): void {}
}

/** `node-1 up worker-2 1,874 ms | node-2 killed | …` */
function nodesLine({ nodes }: Observation): string {
  return nodes
    .map(({ name, state, holder, remainingMs }) => {
      const left = remainingMs === undefined ? "" : ` ${msText(remainingMs)}`;
      return `${name} ${state}${holder === undefined ? "" : ` ${holder}${left}`}`;
    })
    .join(" | ");
}
