import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

// Plain JavaScript, because scripts/ uses it before anything is installed.

/** Where `npm test` unpacks a server for itself, when the machine has none. */
export const privateServerBinary = fileURLToPath(
  new URL("../../../.cache/redis/redis-server", import.meta.url),
);

/** Finds a Redis (or Valkey) server program, or answers undefined. */
export function findServerBinary() {
  const declared = process.env.REDLATCH_REDIS_SERVER;
  if (declared) {
    if (!isProgram(declared))
      throw new Error(`REDLATCH_REDIS_SERVER must name a program, got ${declared}`);
    return declared;
  }
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const candidates = ["redis-server", "valkey-server"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  return [...candidates, privateServerBinary].find(isProgram);
}

/** What to type, in the repository's root, to get a server that nobody else is bothered by. */
export const howToGetServer = "node scripts/redis-server.mjs";

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
