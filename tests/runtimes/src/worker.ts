import { builtinModules } from "node:module";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { consumer } from "./folders.ts";
import type { Said } from "./run-program.ts";

export interface WorkerOptions {
  readonly driver: string;
  /** Whether Node's modules are there: sockets for TCP drivers, above all. */
  readonly nodejsCompat: boolean;
}

const NODE_MODULES = builtinModules.flatMap((name) => [name, `node:${name}`]);

/** What CommonJS drivers call to get Node's modules. */
const REQUIRE = `import { getBuiltinModule } from "node:process"; const require = getBuiltinModule;`;

/** Bundles the program as a Worker's build does, and runs it in workerd. */
export async function runWorker(
  { driver, nodejsCompat }: WorkerOptions,
  told: unknown,
): Promise<Said["results"]> {
  const complaints: string[] = [];
  const miniflare = new Miniflare({
    cf: false,
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      for (const stream of [stdout, stderr]) {
        stream.on("data", (data) => complaints.push(String(data)));
      }
    },
    compatibilityDate: "2026-04-01",
    compatibilityFlags: nodejsCompat ? ["nodejs_compat"] : [],
    modules: [
      { type: "ESModule", path: "worker.mjs", contents: await bundle(driver, nodejsCompat) },
    ],
  });
  try {
    const body = JSON.stringify(told);
    const response = await miniflare.dispatchFetch("http://worker.test/", { method: "POST", body });
    const text = await response.text();
    if (response.ok) return (JSON.parse(text) as Said).results;
    throw new Error(`the worker answered ${response.status}: ${text}\n${complaints.join("")}`);
  } finally {
    await miniflare.dispose();
  }
}

async function bundle(driver: string, nodejsCompat: boolean): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(consumer, "worker.mjs")],
    alias: { driver: join(consumer, `drivers/${driver}.mjs`) },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
    logLevel: "silent",
    // Without Node's modules a bundle that needs one must fail.
    ...(nodejsCompat && { external: NODE_MODULES, banner: { js: REQUIRE } }),
  });
  return outputFiles[0]!.text;
}
