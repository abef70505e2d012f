import { pause } from "../exchange.ts";
import { expectSame, expectThat } from "../expectation.ts";
import { namesTogether } from "../names.ts";
import type { LockScenario } from "../scenario.ts";
import { codeOf, expectHeld, scenario } from "./stage.ts";

export const exclusionScenarios: readonly LockScenario[] = [
  scenario("two clients exclude each other", async (stage) => {
    const { resource } = stage;
    const [one, two] = stage.pair();
    const lease = await one.acquire(resource);
    expectSame("tryAcquire while another holds", await two.tryAcquire(resource), null);
    const refused = await codeOf(two.acquire(resource, { waitMs: 0 }));
    expectSame("acquire while another holds", refused, "RESOURCE_HELD");
    const skipped = await two.tryUsing(resource, () => "ran");
    expectSame("tryUsing while another holds", skipped.ran, false);
    expectSame("whether the holder still holds", lease.isHeld(), true);
    expectSame("release", await lease.release(), "released");
    const next = expectHeld("tryAcquire after the release", await two.tryAcquire(resource));
    expectThat(next.token !== lease.token, "two leases have the same token");
    await next.release();
    await stage.expectNothingLeft();
  }),
  scenario("a waiter gets in soon after the release, not a whole ttl later", async (stage) => {
    const { resource, ttlMs } = stage;
    const [holder, waiter] = stage.pair();
    const lease = await holder.acquire(resource);
    const waiting = waiter.acquire(resource);
    // Awaited below; until then its failure must not count as nobody's.
    waiting.catch(() => {});
    await pause(50);
    const releasedMs = performance.now();
    await lease.release();
    const next = await waiting;
    const tookMs = performance.now() - releasedMs;
    expectThat(tookMs < ttlMs / 2, `the waiter came in after ${tookMs} ms, the ttl is ${ttlMs}`);
    await next.release();
    await stage.expectNothingLeft();
  }),
  scenario("no update of 6 clients that race for one resource is lost", async (stage) => {
    let count = 0;
    const increment = async (): Promise<void> => {
      const read = count;
      await pause(1);
      count = read + 1;
    };
    const options = { waitMs: 20 * stage.ttlMs };
    await Promise.all(
      [1, 2, 3, 4, 5, 6].flatMap(() => {
        const client = stage.client();
        return [1, 2, 3].map(() => client.using(stage.resource, options, increment));
      }),
    );
    expectSame("the count", count, 18);
    await stage.expectNothingLeft();
  }),
  scenario("tasks of one client come in one by one, first in, first out", async (stage) => {
    const client = stage.client();
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        client.using(stage.resource, async () => {
          expectSame("tasks inside", ++inside, 1);
          order.push(index);
          await pause(1);
          inside--;
        }),
      ),
    );
    expectSame("their order", order.join(" "), "0 1 2 3 4 5 6 7 8 9");
    await stage.expectNothingLeft();
  }),
  scenario("several resources are locked all or none", async (stage) => {
    const [one, two] = stage.pair();
    const [a, b, c] = namesTogether(3) as [string, string, string];
    const lease = await one.acquire([a, b]);
    expectSame("tryAcquire of an overlapping set", await two.tryAcquire([b, c]), null);
    const free = expectHeld("tryAcquire of the free part", await two.tryAcquire(c));
    await free.release();
    await lease.release();
    const both = expectHeld("tryAcquire of a free set", await two.tryAcquire([b, c]));
    await both.release();
    await stage.expectNothingLeft(a, b, c);
  }),
  scenario("a released resource stays locked for minHoldMs", async (stage) => {
    const { resource, ttlMs } = stage;
    const [one, two] = stage.pair();
    const lease = await one.acquire(resource, { minHoldMs: ttlMs / 2 });
    expectSame("release", await lease.release(), "released");
    expectSame("tryAcquire right afterwards", await two.tryAcquire(resource), null);
    const next = await two.acquire(resource);
    await next.release();
    await stage.expectNothingLeft();
  }),
  scenario("inspect names the holder; forceRelease puts it out", async (stage) => {
    const { resource } = stage;
    const [holder, operator] = stage.pair();
    expectSame("verdict before", (await operator.inspect(resource)).verdict, "free");
    const lease = await holder.acquire(resource, { owner: "worker 7" });
    const found = await operator.inspect(resource);
    expectSame("verdict", found.verdict, "held");
    expectSame("the holder's owner", found.holder?.owner, "worker 7");
    expectSame("the holder's token", found.holder?.token, lease.token);
    expectSame("forceRelease", await operator.forceRelease(resource), "released");
    expectSame("an extension afterwards", await codeOf(lease.extend()), "LEASE_LOST");
    await stage.expectNothingLeft();
  }),
  scenario("many cycles of acquire and release leave nothing behind", async (stage) => {
    const client = stage.client({ ttlMs: 10_000 });
    const resources = Array.from({ length: 8 }, (_, index) => `${stage.resource}:${index}`);
    let left = stage.cycles;
    await Promise.all(
      resources.map(async (resource) => {
        while (left-- > 0) {
          const lease = await client.acquire(resource);
          expectSame("release", await lease.release(), "released");
        }
      }),
    );
    await stage.expectNothingLeft(...resources);
  }),
];
