import {
  pollUntil,
  type RestServer,
  restServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Target } from "./target.ts";
import { Workerd } from "./workerd.ts";

let pool: ServerPool;
let databases: RestServer[];
let target: Target;
let workerd: Workerd;

beforeAll(async () => {
  [pool, target] = await Promise.all([startServers(3), Target.start()]);
  databases = await Promise.all(pool.servers.map((server) => restServer(server)));
  workerd = await Workerd.start({
    UPSTASH_URLS: databases.map(({ url }) => url).join(","),
    UPSTASH_TOKENS: databases.map(({ token }) => token).join(","),
    TARGET_URL: target.url,
  });
});

afterAll(async () => {
  await workerd?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
  await Promise.all((databases ?? []).map((database) => database.stop()));
  await pool?.stop();
});

afterEach(() => {
  for (const database of databases) database.heal();
  target.status = 200;
  target.held = undefined;
});

const calls = (id: string): number => target.began.filter((one) => one === id).length;

/** How long each database keeps the key of an event, in milliseconds; -2 where it has none. */
const keptMs = (id: string): Promise<number[]> =>
  Promise.all(
    pool.servers.map(async (server) => {
      return Number(await server.command("PTTL", `lock:webhook:shop:${id}`));
    }),
  );

/** Far sooner than a lock would expire. */
const soon = { timeoutMs: 4_000, intervalMs: 20 };

const nothingIsKept = (id: string) =>
  pollUntil(
    `no database keeps ${id}`,
    async () => {
      return (await keptMs(id)).every((ms) => ms === -2);
    },
    soon,
  );

/** The mark of a processed event lasts far longer than a lock. A majority of three is enough. */
const isRemembered = (id: string) =>
  pollUntil(
    `a majority of the databases remembers ${id}`,
    async () => (await keptMs(id)).filter((ms) => ms > 3_600_000).length >= 2,
    soon,
  );

describe("a webhook", () => {
  it("is processed once, however many copies of it come at the same time, or later", async () => {
    // The databases know the scripts, and the Worker runs.
    await workerd.deliver("order-0");
    const copies = await Promise.all(Array.from({ length: 6 }, () => workerd.deliver("order-1")));
    expect(copies.filter(({ outcome }) => outcome === "processed")).toHaveLength(1);
    for (const { status, outcome } of copies) {
      expect([
        [200, "processed"],
        [200, "duplicate"],
        [409, "busy"],
      ]).toContainEqual([status, outcome]);
    }
    await isRemembered("order-1");
    expect(await workerd.deliver("order-1")).toMatchObject({ status: 200, outcome: "duplicate" });
    expect(calls("order-1")).toBe(1);
    expect(await workerd.deliver("order-2")).toMatchObject({ status: 200, outcome: "processed" });
  });

  it("is busy, with Retry-After, while a copy is being processed", async () => {
    let go = () => {};
    target.held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const first = workerd.deliver("slow-1");
    await pollUntil("it is being processed", () => calls("slow-1") === 1);
    const copy = await workerd.deliver("slow-1");
    expect(copy).toMatchObject({ status: 409, outcome: "busy", retryAfter: "5" });
    go();
    expect(await first).toMatchObject({ status: 200, outcome: "processed" });
    expect(calls("slow-1")).toBe(1);
  });

  it("costs one request to each database to lock it, and one to remember it", async () => {
    await workerd.deliver("cost-0"); // the databases know the scripts
    await isRemembered("cost-0");
    const requests = () => databases.reduce((sum, database) => sum + database.requests, 0);
    const before = requests();
    await workerd.deliver("cost-1");
    await isRemembered("cost-1");
    await pollUntil("all were asked", () => requests() - before >= 6, soon);
    expect(requests() - before).toBe(6);
  });

  it("that the target refused is processed when it comes again", async () => {
    target.status = 500;
    expect(await workerd.deliver("refused-1")).toMatchObject({ status: 502 });
    await nothingIsKept("refused-1");
    target.status = 200;
    expect(await workerd.deliver("refused-1")).toMatchObject({ outcome: "processed" });
    expect(calls("refused-1")).toBe(2);
  });

  it("is processed with one database down, and refused with 503 with two", async () => {
    databases[0]!.answer(500);
    expect(await workerd.deliver("outage-1")).toMatchObject({ outcome: "processed" });
    databases[1]!.halfOpen();
    const refused = await workerd.deliver("outage-2");
    expect(refused).toMatchObject({ status: 503, retryAfter: "5" });
    expect(calls("outage-2")).toBe(0);
    for (const database of databases) database.heal();
    await nothingIsKept("outage-2");
    expect(await workerd.deliver("outage-2")).toMatchObject({ outcome: "processed" });
  });
});

describe("a sender that hangs up", () => {
  /** The abort event in the app's own handler: the cancellation that these tests rely on. */
  const hangUps = (): number => workerd.log.join("").split("the sender hung up").length - 1;

  /** Hangs up, and proves that the handler was told while it was at work. */
  async function hangUp(id: string, when: Promise<unknown>): Promise<void> {
    const before = hangUps();
    await workerd.hangUp(id, when);
    await pollUntil("the handler was cancelled", () => hangUps() === before + 1, soon);
  }

  it("while the lock is being taken leaves no key, and the isolate as good as before", async () => {
    const { isolate } = await workerd.deliver("before-1");
    // The keys are set, but the Worker does not hear of it yet.
    for (const database of databases) database.delay(700);
    const taken = pollUntil(
      "the keys are set",
      async () => {
        return (await keptMs("left-1")).every((ms) => ms > 0);
      },
      soon,
    );
    await hangUp("left-1", taken);
    expect(calls("left-1")).toBe(0);
    await nothingIsKept("left-1");
    for (const database of databases) database.heal();
    expect(await workerd.deliver("left-1")).toMatchObject({ outcome: "processed", isolate });
    expect(calls("left-1")).toBe(1);
  });

  it("during the work does not stop it: the event is remembered", async () => {
    let go = () => {};
    target.held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await hangUp(
      "left-2",
      pollUntil("it is being processed", () => calls("left-2") === 1),
    );
    go();
    await isRemembered("left-2");
    expect(await workerd.deliver("left-2")).toMatchObject({ outcome: "duplicate" });
    expect(calls("left-2")).toBe(1);
  });

  it("during work that fails leaves no key", async () => {
    target.status = 500;
    let go = () => {};
    target.held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await hangUp(
      "left-3",
      pollUntil("it is being processed", () => calls("left-3") === 1),
    );
    expect((await keptMs("left-3")).every((ms) => ms > 0)).toBe(true);
    go();
    await nothingIsKept("left-3");
  });

  it("many of them, in one isolate, leave nothing behind", async () => {
    const { isolate } = await workerd.deliver("before-2");
    for (const database of databases) database.delay(700);
    const ids = Array.from({ length: 10 }, (_, index) => `many-${index}`);
    const before = hangUps();
    const taken = pollUntil(
      "all locks are being taken",
      async () => {
        const keys = await pool.servers[0]!.command("KEYS", "lock:webhook:shop:many-*");
        return (keys as string[]).length === ids.length;
      },
      soon,
    );
    await Promise.all(ids.map((id) => workerd.hangUp(id, taken)));
    await pollUntil("all were cancelled", () => hangUps() === before + ids.length, soon);
    await Promise.all(ids.map(nothingIsKept));
    expect(ids.map(calls)).toEqual(ids.map(() => 0));
    for (const database of databases) database.heal();
    const again = await Promise.all(ids.map((id) => workerd.deliver(id)));
    expect(again.map(({ outcome }) => outcome)).toEqual(ids.map(() => "processed"));
    expect(new Set(again.map((one) => one.isolate))).toEqual(new Set([isolate]));
  });
});

it("a wrong request is refused", async () => {
  const statusOf = async (...request: Parameters<Workerd["request"]>) =>
    (await workerd.request(...request)).status;
  expect(await statusOf("GET", "/webhooks/shop")).toBe(405);
  expect(await statusOf("POST", "/webhooks/shop")).toBe(400);
  expect(await statusOf("POST", "/")).toBe(404);
});

it("a Worker without a configuration says what is missing in its log, and nothing to strangers", async () => {
  await using bare = await Workerd.start({ UPSTASH_URLS: "https://a.test,b", UPSTASH_TOKENS: "t" });
  const answer = await bare.deliver("any-1");
  expect(answer).toMatchObject({ status: 500, outcome: "not configured: see the log" });
  await pollUntil("it is logged", () => bare.log.join("").includes("TARGET_URL is missing"));
  expect(bare.log.join("")).toContain("UPSTASH_URLS: number 2 is no https:// URL");
  expect(bare.log.join("")).toContain("UPSTASH_TOKENS has 1 tokens for 2 URLs");
});
