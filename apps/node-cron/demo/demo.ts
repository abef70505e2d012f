import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";
import { type ScriptProcess, spawnScript, startServers } from "@redlatch/testkit";

// Three Redis servers and three replicas. Kills one of each on the way; Ctrl-C ends it early.

await using pool = await startServers(3);
const REDIS_URLS = pool.servers.map(({ url }) => url).join(",");
const MAIN = new URL("../src/main.ts", import.meta.url);

interface Line {
  readonly time: string;
  readonly replica: string;
  readonly event: string;
  readonly tick?: string;
  readonly node?: string;
}

/** What the replicas said, and who waits for a certain line. */
const lines = new EventEmitter<{ line: [Line] }>();

/** Resolves with the line that makes it `count` times `event`. */
function next(event: string, count: number): Promise<Line> {
  return new Promise((resolve) => {
    lines.on("line", function listen(line: Line) {
      if (line.event !== event || --count > 0) return;
      lines.off("line", listen);
      resolve(line);
    });
  });
}

function startReplica(name: string): ScriptProcess {
  const settings = { REDIS_URLS, SCHEDULE: "*/2 * * * * *", LOCK_TTL_MS: "1000", REPLICA: name };
  const replica = spawnScript(MAIN, [], settings);
  replica.stderr.pipe(process.stderr);
  createInterface({ input: replica.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as Line;
    const { time, event, tick = "", node = "" } = line;
    const columns = [
      time.slice(11, 23),
      name.padEnd(5),
      event.padEnd(13),
      tick.slice(11, 19),
      node,
    ];
    console.log(columns.filter(Boolean).join("  "));
    lines.emit("line", line);
  });
  return replica;
}

const comment = (text: string) => console.log(`\n# ${text}\n`);
const ended = (replica: ScriptProcess) => new Promise((resolve) => replica.once("exit", resolve));

comment("Three replicas start. Each tick runs on one of them.");
const replicas = new Map(["one", "two", "three"].map((name) => [name, startReplica(name)]));
await next("waiting", replicas.size);
await next("ran", 3);
comment("A Redis server is killed.");
await pool.servers[0]!.kill();
const { replica: runner } = await next("ran", 2);
comment(`The replica that ran last (${runner}) is killed with SIGKILL.`);
replicas.get(runner)?.kill("SIGKILL");
replicas.delete(runner);
await next("ran", 2);
comment("SIGTERM to the others.");
const ends = Array.from(replicas.values(), ended);
for (const replica of replicas.values()) replica.kill("SIGTERM");
await Promise.all(ends);
