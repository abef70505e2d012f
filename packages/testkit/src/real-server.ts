import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { keepsData, type Persistence, persistenceFlags, removeData } from "./persistence.ts";
import { rawCommand } from "./raw-command.ts";
import type { Reply } from "./resp.ts";
import { type LaunchProgram, PortTakenError, type ServerProgram } from "./server-program.ts";
import { removeTemporaryDirectory, temporaryDirectory } from "./watchdog.ts";

const PORT_ATTEMPTS = 5;
const COMMAND_TIMEOUT_MS = 2_000;

export interface ServerOptions {
  /** @defaultValue "none" */
  readonly persistence?: Persistence;
  /** Makes the server ask for it; `url` and `command()` carry it. */
  readonly password?: string;
  /** More of the server's own options, for instance `["--maxmemory", "2mb"]`. They win. */
  readonly args?: readonly string[];
  /** Starts the server as a (still lonely) node of a Redis Cluster; see {@link startCluster}. */
  readonly cluster?: boolean;
  /** A server program of this machine, instead of a container or the machine's own; see {@link findServerVersions}. */
  readonly program?: string;
}

/** One real Redis server on 127.0.0.1, with its faults at hand. */
export class RealServer implements AsyncDisposable {
  readonly name: string;
  readonly host = "127.0.0.1" as const;
  readonly port: number;
  /** For drivers; holds the password where there is one. */
  readonly url: string;
  readonly #options: ServerOptions;
  readonly #launch: LaunchProgram;
  readonly #dataDirectory: string;
  #persistence: Persistence;
  #program: ServerProgram;

  private constructor(start: StartedProgram) {
    const { name, port, options, launch, dataDirectory, program } = start;
    this.name = name;
    this.port = port;
    const credentials = options.password ? `:${encodeURIComponent(options.password)}@` : "";
    this.url = `redis://${credentials}${this.host}:${port}`;
    this.#options = options;
    this.#launch = launch;
    this.#dataDirectory = dataDirectory;
    this.#persistence = options.persistence ?? "none";
    this.#program = program;
  }

  /** Starts a server on a free port; resolves when it accepts commands. */
  static async start(
    name: string,
    options: ServerOptions,
    launch: LaunchProgram,
  ): Promise<RealServer> {
    const dataDirectory = await temporaryDirectory();
    const flags = serverFlags(options, options.persistence ?? "none");
    try {
      for (let attempt = 1; ; attempt++) {
        const port = await freePort({ clusterBus: options.cluster ?? false });
        try {
          const settings = { name, port, dataDirectory, flags, program: options.program };
          const program = await launch(settings);
          return new RealServer({ name, port, options, launch, dataDirectory, program });
        } catch (error) {
          if (!(error instanceof PortTakenError) || attempt === PORT_ATTEMPTS) throw error;
        }
      }
    } catch (error) {
      await removeTemporaryDirectory(dataDirectory);
      throw error;
    }
  }

  /** The process's id; undefined where the server is a container. It changes on restart(). */
  get pid(): number | undefined {
    return this.#program.pid;
  }

  /**
   * False after kill() and stop(), and when a local process ended by itself (of a container nobody tells
   * us). A hung server is alive.
   */
  get alive(): boolean {
    return this.#program.alive;
  }

  /** Freezes the server (SIGSTOP, or a container's pause): connections stay open, nothing answers. */
  async hang(): Promise<void> {
    await this.#program.hang();
  }

  /** Lets a hung server go on: it now executes what it was sent meanwhile. */
  async resume(): Promise<void> {
    await this.#program.resume();
  }

  /** Ends the server with SIGKILL, hung or not: connections break, new ones are refused. */
  async kill(): Promise<void> {
    await this.#program.kill();
  }

  /**
   * Starts the server again on the same port, after a kill where it still lives. Data survives where the
   * server wrote it down before and reads the same kind of file now (the two append-only kinds are one).
   */
  async restart(options: { persistence?: Persistence } = {}): Promise<void> {
    const persistence = options.persistence ?? this.#persistence;
    await this.kill();
    if (!keepsData(this.#persistence, persistence)) await removeData(this.#dataDirectory);
    this.#persistence = persistence;
    this.#program = await this.#launchOnSamePort(serverFlags(this.#options, persistence));
  }

  /** Removes all keys (FLUSHALL). */
  async flush(): Promise<void> {
    await this.command("FLUSHALL");
  }

  /**
   * Sends one command on a connection of its own.
   *
   * @throws ReplyError when the server answers with an error; Error after 2 seconds without an answer.
   */
  async command(...args: [name: string, ...args: string[]]): Promise<Reply> {
    const { host, port } = this;
    const { password } = this.#options;
    return rawCommand({ host, port, password, args, timeoutMs: COMMAND_TIMEOUT_MS });
  }

  /** Ends the server and removes its data. Can be called twice. */
  async stop(): Promise<void> {
    await this.kill();
    await removeTemporaryDirectory(this.#dataDirectory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #launchOnSamePort(flags: readonly string[]): Promise<ServerProgram> {
    const { name, port } = this;
    for (let attempt = 1; ; attempt++) {
      try {
        const { program } = this.#options;
        const dataDirectory = this.#dataDirectory;
        return await this.#launch({ name, port, dataDirectory, flags, program });
      } catch (error) {
        // A socket that went out from this very port while it was free; it closes soon.
        if (!(error instanceof PortTakenError) || attempt === PORT_ATTEMPTS) throw error;
        await sleep(200);
      }
    }
  }
}

interface StartedProgram {
  readonly name: string;
  readonly port: number;
  readonly options: ServerOptions;
  readonly launch: LaunchProgram;
  readonly dataDirectory: string;
  readonly program: ServerProgram;
}

const CLUSTER_FLAGS = [
  ...["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"],
  ...["--cluster-node-timeout", "2000", "--cluster-announce-ip", "127.0.0.1"],
];

function serverFlags(options: ServerOptions, persistence: Persistence): readonly string[] {
  return [
    ...persistenceFlags(persistence),
    ...(options.password ? ["--requirepass", options.password] : []),
    ...(options.cluster ? CLUSTER_FLAGS : []),
    ...(options.args ?? []),
  ];
}
