import { type ServerConnection, serverConnection, startServers } from "@redlatch/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BROKEN_NODES } from "./broken-nodes.ts";
import { differencesOf } from "./comparison.ts";
import { type Deviation, deviationsOf } from "./deviations.ts";
import { type MakeTwin, memoryTwin, type Run, runOnBoth } from "./run.ts";
import { otherServers, ownServer } from "./servers.ts";
import { SCRIPTS, type Step, sequences } from "./steps.ts";

/** How many sequences are tried between two looks at the time. */
const BATCH = 60;

/** So many are sure to meet every command and kind of answer; more only while there is time. */
const MOST_BATCHES = 40;

const seed = process.env["SEED"] ? Number(process.env["SEED"]) : Date.now() % 2 ** 31;

/** For all servers together. */
const budgetMs = Number(process.env["DIFFERENTIAL_SECONDS"] ?? 10) * 1_000;

const own = ownServer();
const { here, missing } = otherServers();
const servers = [own, ...here];

async function connected<T>(
  program: string,
  use: (connection: ServerConnection) => Promise<T>,
): Promise<T> {
  await using pool = await startServers(1, { program });
  const [server] = pool.servers;
  if (!server) throw new Error("no server started");
  const connection = await serverConnection(server);
  try {
    return await use(connection);
  } finally {
    connection.end();
  }
}

/** Every sequence is answered alike and leaves alike keys. */
const alike = (
  connection: ServerConnection,
  arbitrary: fc.Arbitrary<readonly Step[]>,
  twin: MakeTwin,
  deviations: readonly Deviation[] = [],
  note: (run: Run) => void = () => {},
) =>
  fc.asyncProperty(arbitrary, async (steps) => {
    const run = await runOnBoth(steps, connection, twin);
    note(run);
    const differences = differencesOf(run, deviations);
    if (differences.length > 0) throw new Error(`\n${differences.join("\n")}\n`);
  });

describe.each(servers)("the memory node and $server", ({ server, program }) => {
  it(
    "answer alike and keep alike whatever they are sent, but for the deviations listed",
    { timeout: budgetMs + 120_000 },
    () =>
      connected(program, async (connection) => {
        const old = server.startsWith("Redis 6.");
        const arbitrary = sequences({ old });
        const seen = new Sightings();
        const note = (run: Run) => seen.add(run);
        const property = alike(connection, arbitrary, memoryTwin, deviationsOf(server), note);
        const untilMs = Date.now() + budgetMs / servers.length;
        const goesOn = (batch: number) =>
          Date.now() < untilMs || (batch < MOST_BATCHES && seen.missing(old).length > 0);
        for (let batch = 0; batch < 2 || goesOn(batch); batch++) {
          await fc.assert(property, { seed: seed + batch, numRuns: BATCH });
        }
        expect(seen.missing(old)).toEqual([]);
        console.info(`the memory node is ${server}: ${seen.summary} (SEED=${seed})`);
      }),
  );
});

for (const { server, reason } of missing) {
  console.warn(`the memory node was not compared with ${server}: ${reason}`);
  it.skip(`the memory node and ${server}: not compared, since it is not here: ${reason}`, () => {});
}

describe("the comparison notices a node that", () => {
  it.each(BROKEN_NODES)("%s", (_, twin) =>
    connected(own.program, async (connection) => {
      const deviations = deviationsOf(own.server);
      const property = alike(connection, sequences(), twin, deviations);
      const { failed } = await fc.check(property, { seed: 1, numRuns: 300, endOnFailure: true });
      expect(failed).toBe(true);
    }),
  );

  it("has any fault, and shrinks up to 40 steps to the few that show it", () =>
    connected(own.program, async (connection) => {
      const [, twin] = BROKEN_NODES.find(([fault]) => fault.startsWith("keeps the TTL"))!;
      const property = alike(connection, sequences(), twin, deviationsOf(own.server));
      const { counterexample } = await fc.check(property, { seed: 1, numRuns: 300 });
      const [steps] = counterexample ?? [[]];
      expect(steps.length).toBeGreaterThanOrEqual(2);
      expect(steps.length).toBeLessThanOrEqual(4);
    }));
});

const NAMES =
  `SET GET MGET INCR DECR INCRBY DEL UNLINK EXISTS TYPE PTTL TTL PERSIST KEYS DBSIZE PEXPIRE
  EXPIRE PEXPIREAT EXPIREAT FLUSHALL HSET HGET HEXISTS HLEN HGETALL HDEL HINCRBY ZADD ZREM ZCARD ZSCORE
  ZCOUNT ZREMRANGEBYSCORE ZRANGE ZRANGEBYSCORE PING ECHO PUBLISH SCRIPT EVAL EVALSHA`.split(/\s+/);

/** What was seen of the real server: a comparison of errors with errors would prove nothing. */
class Sightings {
  readonly #executed = new Map<string, number>();
  readonly #errors = new Set<string>();
  #sequences = 0;
  #commands = 0;

  add({ exchanges }: Run): void {
    this.#sequences++;
    for (const { command, real } of exchanges) {
      this.#commands++;
      if (real instanceof Error) this.#errors.add(real.message.split(" ")[0] as string);
      else for (const name of namesOf(command, real)) this.#count(name);
    }
  }

  get summary(): string {
    return `${this.#sequences} sequences, ${this.#commands} commands`;
  }

  /** What has not been seen yet. */
  missing(old: boolean): readonly string[] {
    const scripts = ["ACQUIRE 1", "ACQUIRE held", "EXTEND 1", "EXTEND 0", "EXTEND held"];
    const answers = [...scripts, "RELEASE 1", "RELEASE 0", "LOOK held", "LOOK "];
    const wanted = [...NAMES, ...answers, ...(old ? [] : ["GETDEL"])];
    const errors = ["ERR", "WRONGTYPE", "NOSCRIPT"].filter((error) => !this.#errors.has(error));
    return [...wanted.filter((name) => !this.#executed.has(name)), ...errors];
  }

  #count(name: string): void {
    this.#executed.set(name, (this.#executed.get(name) ?? 0) + 1);
  }
}

/** The command's name; of the core's scripts also the kind of answer. */
function namesOf([name = "", text]: readonly string[], real: unknown): readonly string[] {
  const script = Object.entries(SCRIPTS).find(([, { sha, lua }]) => text === sha || text === lua);
  if (!script || !name.startsWith("EVAL")) return [name.toUpperCase()];
  return [name, `${script[0]} ${/^held \d+ /.test(String(real)) ? "held" : real}`];
}
