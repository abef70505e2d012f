import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * What a server writes to its disk.
 *
 * - `none`: nothing; a restart comes up empty.
 * - `rdb`: a snapshot on SAVE or BGSAVE (and none by itself within a test): kill() loses what came after.
 * - `aof-everysec`: each write reaches the operating system before its reply, the disk once per second.
 *   kill() loses nothing, since only the process dies; a power failure would lose up to a second, which
 *   no test on one machine can show.
 * - `aof-always`: each write reaches the disk before its reply.
 */
export type Persistence = "none" | "rdb" | "aof-everysec" | "aof-always";

const OFF = ["--save", "", "--appendonly", "no"];
const APPEND_ONLY = ["--save", "", "--appendonly", "yes", "--appendfsync"];

const FLAGS: Readonly<Record<Persistence, readonly string[]>> = {
  none: OFF,
  rdb: ["--save", "3600 1000000", "--appendonly", "no"],
  "aof-everysec": [...APPEND_ONLY, "everysec"],
  "aof-always": [...APPEND_ONLY, "always"],
};

export function persistenceFlags(persistence: Persistence): readonly string[] {
  return FLAGS[persistence];
}

/** Whether a server started with `next` finds what it wrote with `previous`. */
export function keepsData(previous: Persistence, next: Persistence): boolean {
  return previous.slice(0, 3) === next.slice(0, 3) && next !== "none";
}

/** Removes the data, not the server's place in a cluster (nodes.conf). */
export async function removeData(dataDirectory: string): Promise<void> {
  const entries = await readdir(dataDirectory);
  const data = entries.filter((entry) => /\.(rdb|aof)$|^appendonlydir$/.test(entry));
  await Promise.all(
    data.map((entry) => rm(join(dataDirectory, entry), { recursive: true, force: true })),
  );
}
