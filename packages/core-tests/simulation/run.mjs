import { fileURLToPath } from "node:url";
import { build } from "esbuild";

// `pnpm simulate`: Node 20 does not run TypeScript by itself, and the simulator is to run the sources as they are.
const path = (file) => fileURLToPath(new URL(file, import.meta.url));
const outdir = path("../.cache/simulation");
await build({
  entryPoints: [path("main.ts"), path("worker.ts")],
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  logLevel: "error",
  alias: {
    "@redlatch/core": path("../../core/src/index.ts"),
    "@redlatch/testing/simulator": path("../../testing/src/simulator/index.ts"),
  },
});
const { main } = await import(new URL("../.cache/simulation/main.mjs", import.meta.url).href);
process.exitCode = await main(path("../../../"), process.argv.slice(2));
