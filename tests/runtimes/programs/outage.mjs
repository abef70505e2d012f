import process from "node:process";
import { createInterface } from "node:readline";
import { Redlock } from "@redlatch/core";

// `outage.mjs <what it is told, as JSON>`: one attempt to lock for each line on standard input.
const { driver, servers } = JSON.parse(process.argv[2]);
const { connect } = await import(`./drivers/${driver}.mjs`);
const connections = await Promise.all(servers.map((server) => connect(server)));
const redlock = new Redlock(
  connections.map(({ node }) => node),
  { ttlMs: 5_000 },
);

async function attempt() {
  const startedMs = performance.now();
  let outcome;
  try {
    const lease = await redlock.acquire("outage", { waitMs: 0 });
    outcome = await lease.release();
  } catch (error) {
    outcome = error.code ?? String(error);
  }
  return { outcome, tookMs: Math.round(performance.now() - startedMs) };
}

for await (const _ of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await attempt())}\n`);
}
process.exit(0);
