import {
  type RealServer,
  type RestServer,
  restServer,
  type ServerPool,
  startCluster,
  startServers,
} from "@redlatch/testkit";

/** What a program is told about one server. */
export interface ToldServer {
  readonly name: string;
  readonly url: string;
  /** The same server over HTTP, where it has that. */
  readonly rest?: { readonly url: string; readonly token: string };
}

export interface Servers extends AsyncDisposable {
  readonly told: readonly ToldServer[];
}

/** Starts real servers, each also to be reached over HTTP as Upstash's are. */
export async function startBoth(count = 3): Promise<Servers> {
  const pool: ServerPool = await startServers(count);
  const rests: RestServer[] = await Promise.all(pool.servers.map((server) => restServer(server)));
  return {
    told: pool.servers.map(({ name, url }, index) => {
      const { url: restUrl, token } = rests[index]!;
      return { name, url, rest: { url: restUrl, token } };
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all(rests.map((rest) => rest.stop()));
      await pool.stop();
    },
  };
}

/** Starts a cluster, of which clients are told one server. */
export async function startOneCluster(): Promise<Servers> {
  const pool = await startCluster(3);
  const [{ name, url }] = pool.servers as [RealServer];
  return { told: [{ name, url }], [Symbol.asyncDispose]: () => pool.stop() };
}
