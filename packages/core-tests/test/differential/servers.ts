import { execFileSync } from "node:child_process";
import { findServerBinary, findServerVersions } from "@redlatch/testkit";

/** A server to compare the memory node with. */
export interface Comparable {
  /** `Redis 7.0.15`. */
  readonly server: string;
  readonly program: string;
}

/** A server that is not here. */
export interface Missing {
  readonly server: string;
  readonly reason: string;
}

/** The machine's own server. @throws Error when there is none: then nothing would be compared. */
export function ownServer(): Comparable {
  const program = findServerBinary();
  if (!program) throw new Error("no server of this machine to compare the memory node with");
  return { server: versionOf(program), program };
}

export function otherServers(): { readonly here: Comparable[]; readonly missing: Missing[] } {
  const here: Comparable[] = [];
  const missing: Missing[] = [];
  for (const { name, suite, program, missing: reason } of findServerVersions()) {
    if (program) here.push({ server: versionOf(program), program });
    else missing.push({ server: `${name} (Debian ${suite})`, reason: String(reason) });
  }
  return { here, missing };
}

/** `Redis server v=7.0.15 sha=…` or `Valkey server v=9.1.2 …`. */
function versionOf(program: string): string {
  const text = execFileSync(program, ["--version"], { encoding: "utf8" });
  const [, kind, version] = /^(\w+) server v=(\S+)/.exec(text) ?? [];
  if (!version) throw new Error(`${program} is no server whose version is known: ${text}`);
  return `${kind} ${version}`;
}
