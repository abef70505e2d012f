import { register } from "node:module";

// Node 20 runs no TypeScript by itself; this repository's packages are taken from their sources.
register("../../../packages/testkit/src/typescript-loader.mjs", import.meta.url);
await import("./demo.ts");
