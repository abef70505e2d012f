import process from "node:process";
import { play } from "./play.mjs";

// What every runtime with processes runs: `matrix.mjs <what it is told, as JSON>`.
const told = JSON.parse(process.argv[2]);
const { connect } = await import(`./drivers/${told.driver}.mjs`);
const results = await play(connect, told);
// The only line on standard output. Written before the end, however the runtime buffers.
process.stdout.write(`${JSON.stringify({ versions: process.versions, results })}\n`, () => {
  // GLIDE's native part would keep some runtimes alive.
  process.exit(0);
});
