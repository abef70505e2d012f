import { launchContainer } from "./container.ts";
import { containerEngineAnswers } from "./container-engine.mjs";
import { launchLocalProcess } from "./local-process.ts";
import { RealServer, type ServerOptions } from "./real-server.ts";
import type { LaunchProgram } from "./server-program.ts";

/** Independent real servers that are stopped together. */
export interface ServerPool extends AsyncDisposable {
  readonly servers: readonly RealServer[];
  /** Ends all of them, hung ones too, and removes their data. */
  stop(): Promise<void>;
}

/**
 * Starts `count` independent real Redis servers and resolves when each accepts commands: containers where
 * a container engine answers, else local processes. The environment variable REDLATCH_SERVERS
 * (`local` or `containers`) forces the choice. What is left running when this process ends, in whatever
 * way, is ended too.
 *
 * @example
 * ```ts
 * await using pool = await startServers(3);
 * await pool.servers[0].hang();
 * ```
 */
export async function startServers(
  count: number,
  options: ServerOptions = {},
): Promise<ServerPool> {
  return startAll(count, options, options.program ? launchLocalProcess : await chooseLaunch());
}

/** Starts servers with a given launcher; none is left behind where one of them fails. */
export async function startAll(
  count: number,
  options: ServerOptions,
  launch: LaunchProgram,
): Promise<ServerPool> {
  const starts = Array.from({ length: count }, (_, index) =>
    RealServer.start(`node-${index + 1}`, options, launch),
  );
  const results = await Promise.allSettled(starts);
  const servers = results.flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  const failure = results.find((result) => result.status === "rejected");
  if (failure) {
    await stop();
    throw failure.reason;
  }
  return { servers, stop, [Symbol.asyncDispose]: stop };
}

async function chooseLaunch(): Promise<LaunchProgram> {
  const { REDLATCH_SERVERS: forced } = process.env;
  if (forced === "local") return launchLocalProcess;
  if (forced === "containers") return launchContainer;
  if (forced) throw new Error(`REDLATCH_SERVERS must be local or containers, got ${forced}`);
  engineAnswers ??= containerEngineAnswers();
  return (await engineAnswers) ? launchContainer : launchLocalProcess;
}

/** One ping per process is enough. */
let engineAnswers: Promise<boolean> | undefined;
