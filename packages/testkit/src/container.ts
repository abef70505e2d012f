import type { GenericContainer } from "testcontainers";
import {
  PortTakenError,
  type ProgramSettings,
  READY_LINE,
  type ServerProgram,
} from "./server-program.ts";

const { REDLATCH_REDIS_IMAGE: IMAGE = "redis:7.4-alpine" } = process.env;
const READY_WITHIN_MS = 120_000; // The first start pulls the image.

/** Starts a server in a container. It listens on the same port inside and outside. */
export async function launchContainer(settings: ProgramSettings): Promise<ServerProgram> {
  // Lazy: testcontainers is large, and most machines of contributors run no engine.
  const { getContainerRuntimeClient } = await import("testcontainers");
  const container = await describeContainer(settings);
  try {
    const started = await container.start();
    const client = await getContainerRuntimeClient();
    return new ContainerProgram(client.container.getById(started.getId()));
  } catch (error) {
    const taken = /port is already allocated|address already in use/i.test(String(error));
    throw taken ? new PortTakenError(String(error), { cause: error }) : error;
  }
}

async function describeContainer(settings: ProgramSettings): Promise<GenericContainer> {
  const { GenericContainer, Wait } = await import("testcontainers");
  const { port, dataDirectory, flags } = settings;
  // withExposedPorts() would open the port on every address of the machine.
  class LoopbackContainer extends GenericContainer {
    protected override async beforeContainerCreated(): Promise<void> {
      this.createOpts.ExposedPorts = { [`${port}/tcp`]: {} };
      this.hostConfig.PortBindings = {
        [`${port}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(port) }],
      };
    }
  }
  const address = ["--bind", "0.0.0.0", "--protected-mode", "no", "--port", String(port)];
  const container = new LoopbackContainer(IMAGE)
    .withCommand(["redis-server", ...address, "--dir", "/data", ...flags])
    .withBindMounts([{ source: dataDirectory, target: "/data" }])
    .withWaitStrategy(Wait.forLogMessage(READY_LINE))
    .withStartupTimeout(READY_WITHIN_MS);
  const { getuid, getgid } = process;
  // As this user, so that the data folder can be removed afterwards.
  return getuid && getgid ? container.withUser(`${getuid()}:${getgid()}`) : container;
}

/** What is used of dockerode's container. */
interface EngineContainer {
  pause(): Promise<unknown>;
  unpause(): Promise<unknown>;
  remove(options: { force: boolean; v: boolean }): Promise<unknown>;
}

class ContainerProgram implements ServerProgram {
  readonly pid = undefined;
  readonly #container: EngineContainer;
  #ended = false;

  constructor(container: EngineContainer) {
    this.#container = container;
  }

  get alive(): boolean {
    return !this.#ended;
  }

  async hang(): Promise<void> {
    if (this.#ended) throw new Error("pause of a server that has ended");
    await this.#container.pause();
  }

  async resume(): Promise<void> {
    if (this.#ended) throw new Error("unpause of a server that has ended");
    await this.#container.unpause();
  }

  async kill(): Promise<void> {
    if (this.#ended) return;
    // Removing by force is a SIGKILL, which a paused container takes too; a restart makes a new one.
    await this.#container.remove({ force: true, v: true });
    this.#ended = true;
  }
}
