import Table from "cli-table3";

const EDGES = ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left"];
const LINES = ["bottom-right", "left", "left-mid", "mid", "mid-mid", "right", "right-mid"];
const NO_LINES = Object.fromEntries([...EDGES, ...LINES].map((name) => [name, ""]));

/** Columns under their heads, without any lines; the named columns are aligned to the right. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rightAligned: readonly number[] = [],
): string {
  const table = new Table({
    head: [...head],
    chars: { ...NO_LINES, middle: "   " },
    // Its own colours know nothing of NO_COLOR.
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: head.map((_, index) => (rightAligned.includes(index) ? "right" : "left")),
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}
