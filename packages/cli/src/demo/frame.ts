import { quorumOf } from "./faults.ts";
import type { NodeRow, Observation } from "./observer.ts";
import type { RaceSnapshot, Worker } from "./race.ts";
import { tableText } from "./table.ts";
import { msText, secondsText } from "./text.ts";
import type { Colors, Scene } from "./view.ts";

/** The whole picture of one moment: nodes, lock, workers, counter. */
export function frameText(scene: Scene, colors: Colors): string {
  const { title, elapsedMs, totalMs, race, observation } = scene;
  const time = `${secondsText(elapsedMs).trim()} of about ${Math.round(totalMs / 1_000)} s`;
  const blocks = [
    `${colors.bold(title)}  ${colors.dim(time)}`,
    ...(observation ? [`${nodesText(observation, colors)}\n${lockText(observation)}`] : []),
    `${workersText(race, elapsedMs, colors)}\n${counterText(race, colors)}`,
  ];
  return `\n${blocks.join("\n\n")}`;
}

function nodesText({ nodes }: Observation, colors: Colors): string {
  const rows = nodes.map((row) => [
    row.name,
    stateText(row.state, colors),
    row.holder ?? "",
    row.remainingMs === undefined ? "" : msText(row.remainingMs),
  ]);
  return tableText(headText(["node", "state", "held by", "time left"], colors), rows, [3]);
}

function stateText(state: NodeRow["state"], colors: Colors): string {
  if (state === "up") return colors.green(state);
  return state === "hung" ? colors.yellow(state) : colors.red(state);
}

function lockText({ nodes, verdict, holder }: Observation): string {
  const holding = nodes.filter((node) => holder !== undefined && node.holder === holder).length;
  const quorum = `a quorum is ${quorumOf(nodes.length)}`;
  switch (verdict) {
    case "held":
      return `lock: held by ${holder} on ${holding} of ${nodes.length} nodes, ${quorum}`;
    case "free":
      return "lock: free";
    case "split":
      return "lock: being decided";
    case "unreachable":
      return `lock: too few nodes answer, ${quorum}`;
  }
}

function workersText({ workers }: RaceSnapshot, elapsedMs: number, colors: Colors): string {
  const rows = workers.map((worker) => [
    worker.name,
    doingText(worker, elapsedMs, colors),
    String(worker.updates),
    msText(longestWaitMs(worker, elapsedMs)),
  ]);
  const head = headText(["worker", "now", "updates", "longest wait"], colors);
  return tableText(head, rows, [2, 3]);
}

/** A wait that has not ended counts. */
const longestWaitMs = ({ state, sinceMs, longestWaitMs }: Worker, elapsedMs: number): number =>
  Math.max(longestWaitMs, state === "waiting" ? elapsedMs - sinceMs : 0);

function doingText({ state, sinceMs }: Worker, elapsedMs: number, colors: Colors): string {
  if (state === "inside") return colors.cyan("inside".padEnd(17));
  // Of the same width at any time: columns that jump cannot be read.
  return (state === "waiting" ? `waiting ${msText(elapsedMs - sinceMs)}` : state).padEnd(17);
}

function counterText({ counter, updates, lostUpdates }: RaceSnapshot, colors: Colors): string {
  const lost = `lost updates: ${lostUpdates}`;
  return `counter: ${counter} after ${updates} updates, ${lostUpdates === 0 ? lost : colors.red(lost)}`;
}

const headText = (words: readonly string[], colors: Colors): readonly string[] =>
  words.map((word) => colors.dim(word));
