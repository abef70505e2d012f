import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Plain JavaScript, because scripts/ uses it before anything is installed.

const cache = fileURLToPath(new URL("../../../.cache/redis-versions/", import.meta.url));

/** What to type, in the repository's root, to get them. */
const howToGetVersions = "node scripts/redis-versions.mjs";

/** The oldest server that Debian still carries, and the newest of each kind. */
const WANTED = [
  { name: "old Redis", suite: "bullseye", package: "redis-tools", program: "redis-check-rdb" },
  { name: "new Redis", suite: "sid", package: "redis-tools", program: "redis-check-rdb" },
  { name: "new Valkey", suite: "sid", package: "valkey-tools", program: "valkey-check-rdb" },
];

/** Servers of other versions than the machine's own, each in a folder of its own. */
export const serverVersions = WANTED.map((wanted) => {
  const directory = join(cache, `${wanted.suite}-${wanted.package}`);
  return { ...wanted, directory, launcher: join(directory, "redis-server") };
});

/** Where the reason is kept why a server cannot be had. */
export const reasonPath = ({ directory }) => `${directory}.missing`;

/** Which of them are here, and why the others are not. */
export function findServerVersions() {
  return serverVersions.map((version) => {
    const { name, suite, launcher } = version;
    if (existsSync(launcher)) return { name, suite, program: launcher };
    const reason = reasonPath(version);
    const missing = existsSync(reason)
      ? readFileSync(reason, "utf8").trim()
      : `nobody asked for it: ${howToGetVersions}`;
    return { name, suite, missing };
  });
}
