import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pollUntil, type RealServer } from "@redlatch/testkit";
import { freePort } from "../../testkit/src/free-port.ts";
import { rawCommand } from "../../testkit/src/raw-command.ts";
import { findServerBinary } from "../../testkit/src/server-binary.mjs";
import { unwatchProcess, watchProcess } from "../../testkit/src/watchdog.ts";

/** One Sentinel, a quorum by itself, that watches the master called `main`. */
export interface Sentinel {
  readonly port: number;
  command(...args: [name: string, ...args: string[]]): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a process of the same program that the servers run; it is ended with this process at the latest. */
export async function startSentinel(master: RealServer): Promise<Sentinel> {
  const [port, directory] = [await freePort(), await mkdtemp(join(tmpdir(), "redlatch-sentinel-"))];
  const file = join(directory, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${directory}`,
    `sentinel monitor main ${master.host} ${master.port} 1`,
    "sentinel down-after-milliseconds main 60000",
    "sentinel failover-timeout main 3000",
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  const child = spawn(String(findServerBinary()), [file, "--sentinel"], { stdio: "ignore" });
  const pid = child.pid as number;
  watchProcess(pid);
  const command: Sentinel["command"] = (...args) =>
    rawCommand({ host: "127.0.0.1", port, password: undefined, args, timeoutMs: 2_000 });
  await pollUntil("the sentinel answers", () => command("PING"), { timeoutMs: 15_000 });
  return {
    port,
    command,
    async stop() {
      const end = once(child, "exit");
      child.kill("SIGKILL");
      await end;
      unwatchProcess(pid);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
