import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

export type ProcessState = "running" | "stopped" | "gone";

/** Says how a process is doing. A zombie, which only waits to be collected, is gone. */
export function processState(pid: number): ProcessState {
  const letter = existsSync("/proc/self/stat") ? letterFromProc(pid) : letterFromPs(pid);
  if (letter === undefined || letter === "Z" || letter === "X") return "gone";
  return letter === "T" ? "stopped" : "running";
}

function letterFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The state follows the program's name, which is in parentheses and may itself hold some.
    return stat[stat.lastIndexOf(")") + 2];
  } catch {
    return undefined;
  }
}

function letterFromPs(pid: number): string | undefined {
  try {
    return execFileSync("ps", ["-o", "state=", "-p", String(pid)], {
      encoding: "latin1",
    }).trim()[0];
  } catch {
    return undefined;
  }
}
