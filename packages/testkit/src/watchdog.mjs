import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

// Runs as a process of its own beside the tests and outlives them by a moment. Its standard input closes
// when the test process ends in whatever way (exit, crash, SIGKILL); then it ends what was left behind.
// SIGKILL, since a stopped (hung) server would answer no other signal; and only pids it was told.

const pids = new Set();
const directories = new Set();
const take = {
  pid: (value) => pids.add(Number(value)),
  "pid-ended": (value) => pids.delete(Number(value)),
  directory: (value) => directories.add(value),
  "directory-removed": (value) => directories.delete(value),
};

for await (const line of createInterface({ input: process.stdin })) {
  const space = line.indexOf(" ");
  take[line.slice(0, space)]?.(line.slice(space + 1));
}

for (const pid of pids) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
for (const directory of directories) {
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
