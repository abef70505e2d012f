import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { pollUntil, restServer, startServers } from "@redlatch/testkit";

// `wrangler dev` with three databases that speak Upstash's protocol, and copies of a webhook.

const PORT = 8787;
const WORKER = `http://127.0.0.1:${PORT}/webhooks/shop`;

await using pool = await startServers(3);
const databases = await Promise.all(pool.servers.map((server) => restServer(server)));

let processed = 0;
const target = createServer((request, response) => {
  processed++;
  console.log(`    the target gets ${request.headers["webhook-id"]}`);
  setTimeout(() => response.end(), 500);
});
target.listen(0, "127.0.0.1");
await once(target, "listening");
const targetUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;

const variables = {
  UPSTASH_URLS: databases.map(({ url }) => url).join(","),
  UPSTASH_TOKENS: databases.map(({ token }) => token).join(","),
  TARGET_URL: targetUrl,
};
const wrangler = spawn(
  fileURLToPath(new URL("../node_modules/.bin/wrangler", import.meta.url)),
  [
    ...["dev", "--ip", "127.0.0.1", "--port", String(PORT), "--show-interactive-dev-session=false"],
    ...Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
  ],
  {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  },
);
wrangler.stderr.pipe(process.stderr);

const deliver = async (id: string) => {
  const response = await fetch(WORKER, { method: "POST", headers: { "webhook-id": id } });
  const { outcome } = (await response.json()) as { outcome: string };
  return `${response.status} ${outcome}`;
};

const say = (text: string) => console.log(`\n# ${text}\n`);

try {
  const answers = async () => (await fetch(WORKER)).status === 405;
  await pollUntil("the Worker answers", answers, { timeoutMs: 60_000, intervalMs: 100 });
  say("Four copies of order-1 at the same time:");
  for (const answer of await Promise.all([1, 2, 3, 4].map(() => deliver("order-1")))) {
    console.log(`    ${answer}`);
  }
  say("One more, later:");
  console.log(`    ${await deliver("order-1")}`);
  say("One database is down. order-2 comes twice:");
  databases[0]!.answer(500);
  console.log(`    ${await deliver("order-2")}\n    ${await deliver("order-2")}`);
  say("Two are down. order-3 comes:");
  databases[1]!.answer(500);
  console.log(`    ${await deliver("order-3")}`);
  say(`The target got ${processed} webhooks.`);
} finally {
  const ended = once(wrangler, "exit");
  // What it is in the middle of when it ends is of no interest.
  wrangler.stderr.unpipe();
  wrangler.stderr.resume();
  wrangler.kill("SIGINT");
  await ended;
  target.close();
  target.closeAllConnections();
  await Promise.all(databases.map((database) => database.stop()));
}
