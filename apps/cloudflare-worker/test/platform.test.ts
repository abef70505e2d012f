import { type RestServer, restServer, type ServerPool, startServers } from "@redlatch/testkit";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle, worker } from "./workerd.ts";

// What docs/serverless.md says about Workers.

let pool: ServerPool;
let databases: RestServer[];
let miniflare: Miniflare;

beforeAll(async () => {
  pool = await startServers(3);
  databases = await Promise.all(pool.servers.map((server) => restServer(server)));
  miniflare = new Miniflare({
    cf: false,
    ...worker(await bundle("platform.ts")),
    bindings: {
      UPSTASH_URLS: databases.map(({ url }) => url).join(","),
      UPSTASH_TOKENS: databases.map(({ token }) => token).join(","),
    },
  });
});

afterAll(async () => {
  await miniflare?.dispose();
  await Promise.all((databases ?? []).map((database) => database.stop()));
  await pool?.stop();
});

const ask = async (path: string) => {
  return (await (await miniflare.dispatchFetch(`http://platform.test${path}`)).json()) as never;
};

interface Look {
  /** From the moment before it was asked for to its deadline, by a clock that goes. */
  readonly lastsMs: number;
  readonly ageMs: number;
  readonly remainingMs: number;
  readonly held: boolean;
  readonly aborted: boolean;
}

it("requests of one isolate may share a Redlock", async () => {
  const turns = Array.from({ length: 5 }, () => ask("/turn"));
  expect(await Promise.all(turns)).toEqual(Array(5).fill("done"));
});

it("while the clocks stand still, a lease that has expired looks held until the next I/O", async () => {
  const looks: { before: Look; afterWork: Look; afterInput: Look } = await ask("/clocks");
  const { before, afterWork, afterInput } = looks;
  // A clock that was late when the lease was asked for makes it shorter, never longer.
  expect(before).toMatchObject({ held: true, aborted: false });
  expect(before.lastsMs).toBeLessThan(500);
  expect(afterWork.ageMs).toBeGreaterThanOrEqual(600);
  expect(afterWork).toMatchObject({ held: true, aborted: false, remainingMs: before.remainingMs });
  expect(afterInput).toMatchObject({ held: false, aborted: true, remainingMs: 0 });
});

it("ctx.waitUntil by itself throws, which costs the rest of the work and not the lock", async () => {
  const { refusal, ...rest }: { refusal: string } = await ask("/hand-over");
  expect(refusal).toContain("Illegal invocation");
  expect(rest).toEqual({ unbound: "done", handedOver: expect.any(Number) });
  expect(rest).not.toMatchObject({ handedOver: 0 });
});
