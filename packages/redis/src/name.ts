import type { Driver } from "./client.ts";

let unnamed = 0;

/** Names a client by where it connects to; user names and passwords are never part of it. */
export function nameOf(driver: Driver): string {
  const place = driver.masters ? driver._options.rootNodes[0] : driver.options;
  // A pool and a sentinel do not tell.
  if (!place) return `node-redis-${++unnamed}`;
  const { url = "", socket, database } = place;
  const { path, host = "localhost", port = 6379 } = socket ?? {};
  const address = path ?? (URL.canParse(url) ? new URL(url).host : `${host}:${port}`);
  return (driver.masters ? "cluster:" : "") + address + (database ? `/${database}` : "");
}
