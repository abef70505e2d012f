import type { Address, Driver } from "./client.ts";

/** Names a client by where it connects to; user names and passwords are never part of it. */
export function nameOf({ isCluster, startupNodes, options }: Driver): string {
  if (isCluster) return `cluster:${startupNodeName(startupNodes![0]!)}`;
  const { db, name, path, sentinels } = options;
  const place = sentinels ? name : path || addressName(options);
  return place + (db ? `/${db}` : "");
}

function startupNodeName(node: string | number | Address): string {
  if (typeof node === "object") return addressName(node);
  try {
    return new URL(`${node}`.replace(/^(?!.*\/\/)/, "redis://")).host;
  } catch {
    // Part of what cannot be parsed may be a password.
    return "unnamed";
  }
}

function addressName({ host = "127.0.0.1", port = 6379 }: Address): string {
  return `${host}:${port}`;
}
