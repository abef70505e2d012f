import type { HistoryEntry } from "./history.ts";
import type { SimulationResult } from "./simulate.ts";

/** Which part of a history to show. */
export interface TimelineOptions {
  /** How many lines before the first violation (or the end). @defaultValue 150 */
  readonly before?: number;
  /** How many lines after it. @defaultValue 10 */
  readonly after?: number;
}

/** How a lane looks between two events of its own. */
const STATES: readonly (readonly [pattern: RegExp, state: string])[] = [
  [/^holds/, "█"],
  [/^(releases|has lost|hands over)/, "│"],
  [/^(stands still|hangs)/, "~"],
  [/^(goes on|resumes|restarts)/, "│"],
  [/^(crashes|has closed)/, " "],
];

/**
 * Draws a history with a lane for each client and each node: `█` believes to hold a lease, `~` stands still or
 * hangs, blank is down, `●` marks whose event it is. Violations are marked with `!`.
 */
export function timelineOf(
  { history }: Pick<SimulationResult, "history">,
  { before = 150, after = 10 }: TimelineOptions = {},
): string {
  const lanes = lanesOf(history);
  const violated = history.findIndex(([, who]) => who === "!");
  const end = violated < 0 ? history.length : violated + after + 1;
  const start = Math.max(0, end - after - 1 - before);
  const states = new Map(lanes.map((lane) => [lane, "│"]));
  const lines = history.slice(0, end).map((entry) => line(entry, lanes, states));
  const header = ["        ms", ...lanes.map((lane) => lane.padEnd(3))].join(" ");
  return [header, ...lines.slice(start)].join("\n");
}

function line(entry: HistoryEntry, lanes: readonly string[], states: Map<string, string>): string {
  const [atMs, who, ...what] = entry;
  const lane = placeOf(who);
  const text = what.map((part) => (typeof part === "number" ? shown(part) : part)).join(" ");
  const [, state] = STATES.find(([pattern]) => pattern.test(String(what[0]))) ?? [];
  if (state !== undefined && states.has(lane)) states.set(lane, state);
  const marks = lanes.map((each) => (each === lane ? "●" : (states.get(each) ?? "│")).padEnd(3));
  const subject = lanes.includes(lane) ? `${who}: ` : `${who} `;
  return [atMs.toFixed(2).padStart(10), ...marks, subject + text].join(" ");
}

/** Clients, then nodes, each in order. */
function lanesOf(history: readonly HistoryEntry[]): string[] {
  const places = new Set(history.map(([, who]) => placeOf(who)));
  return [...places]
    .filter((place) => /^[cn]\d+$/.test(place))
    .sort((a, b) => a.charCodeAt(0) - b.charCodeAt(0) || Number(a.slice(1)) - Number(b.slice(1)));
}

/** The place of a process: `c1'2` is the second one in place `c1`. */
const placeOf = (who: string): string => who.replace(/'.*/, "");

const shown = (value: number): string => String(Math.round(value * 1e4) / 1e4);
