import { fileURLToPath } from "node:url";
import { build } from "esbuild";

// `pnpm mutations`: Node 20 does not run TypeScript by itself.
const outfile = new URL("../.cache/mutations.mjs", import.meta.url);
await build({
  entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
  outfile: fileURLToPath(outfile),
  bundle: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node20",
  logLevel: "error",
});
const { main } = await import(outfile.href);
process.exitCode = await main(new URL("../../../", import.meta.url), process.argv.slice(2));
