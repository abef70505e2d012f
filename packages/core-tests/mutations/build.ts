import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { withDigests } from "./digests.ts";
import { type Mutation, mutate } from "./mutation.ts";

/** Programs that the workers load, in a directory of their own. */
export interface Programs {
  /** The worker, with the simulator and the core as it is. */
  readonly worker: string;
  /** The core without one rule, in the order of the mutations. */
  readonly cores: readonly string[];
  remove(): Promise<void>;
}

/** Where the packages are, and how to ask for their sources. */
export class Sources {
  readonly #packages: URL;

  /** @param packages - The directory of all packages, ending in a slash. */
  constructor(packages: URL) {
    this.#packages = packages;
  }

  path(file: string): string {
    return fileURLToPath(new URL(file, this.#packages));
  }

  core(file: string): Promise<string> {
    return readFile(this.path(`core/src/${file}`), "utf8");
  }
}

/**
 * Builds the simulator, and a changed copy of the core for each mutation. The core's source stays as it is.
 *
 * @throws Error when an anchor is gone.
 */
export async function buildPrograms(
  sources: Sources,
  mutations: readonly Mutation[],
): Promise<Programs> {
  const directory = await mkdtemp(join(tmpdir(), "redlatch-mutations-"));
  const remove = (): Promise<void> => rm(directory, { recursive: true });
  const bundle = async (name: string, entry: string, plugins: Plugin[] = []): Promise<string> => {
    const outfile = join(directory, `${name}.mjs`);
    await build({
      entryPoints: [sources.path(entry)],
      outfile,
      plugins,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      logLevel: "error",
      alias: {
        "@redlatch/core": sources.path("core/src/index.ts"),
        "@redlatch/testing/simulator": sources.path("testing/src/simulator/index.ts"),
      },
    });
    return outfile;
  };
  try {
    const [worker, ...cores] = await Promise.all([
      bundle("worker", "core-tests/mutations/worker.ts"),
      ...mutations.map((mutation, index) =>
        bundle(`core-${index}`, "core/src/index.ts", [patching(mutation, sources)]),
      ),
    ]);
    return { worker, cores, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Has esbuild read the mutation's file with the rule switched off. */
function patching(mutation: Mutation, sources: Sources): Plugin {
  const path = sources.path(`core/src/${mutation.file}`);
  return {
    name: "mutation",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async (args) => {
        if (args.path !== path) return undefined;
        const source = mutate(mutation, await sources.core(mutation.file));
        const contents = mutation.file === "scripts.ts" ? await withDigests(source) : source;
        return { contents, loader: "ts" };
      });
    },
  };
}
