import { register } from "node:module";

// `pnpm chaos`: Node 20 does not run TypeScript by itself; the client processes are started with the same hooks.
register("../../testkit/src/typescript-loader.mjs", import.meta.url);
const { main } = await import("./main.ts");
// Whatever handle is left of so many broken connections, the verdict is in.
process.exit(await main(process.argv.slice(2)));
