import { isRedlockError, type LeaseHandle } from "@redlatch/core";
import { pause } from "../exchange.ts";
import { expectSame, expectSoon, expectThat } from "../expectation.ts";
import type { LockScenario } from "../scenario.ts";
import { codeOf, expectHeld, scenario } from "./stage.ts";

/** Too slow an answer decides nothing, and both may be tried again: no fault of the locks. */
function unlessUnreachable(error: unknown): null {
  if (isRedlockError(error, "QUORUM_UNREACHABLE")) return null;
  throw error;
}

export const leaseScenarios: readonly LockScenario[] = [
  scenario("an extended lease outlives its first ttl", async (stage) => {
    const { resource, ttlMs } = stage;
    const [one, two] = stage.pair();
    const lease = await one.acquire(resource);
    const untilMs = performance.now() + 1.4 * ttlMs;
    while (performance.now() < untilMs) {
      await lease.extend().catch(unlessUnreachable);
      const other = await two.tryAcquire(resource).catch(unlessUnreachable);
      expectSame("tryAcquire of another meanwhile", other, null);
      await pause(ttlMs / 6);
    }
    expectSame("whether it is held", lease.isHeld(), true);
    expectSame("release", await lease.release(), "released");
    await stage.expectNothingLeft();
  }),
  scenario("using extends by itself for as long as the work runs", async (stage) => {
    const { resource, ttlMs } = stage;
    const [one, two] = stage.pair();
    const result = await one.using(resource, async (lease) => {
      const first = lease.deadline;
      await pause(1.4 * ttlMs);
      expectThat(lease.isHeld() && !lease.signal.aborted, "the lease was lost during the work");
      expectThat(lease.deadline > first, "the deadline was not moved");
      expectSame("tryAcquire of another", await two.tryAcquire(resource), null);
      return "result";
    });
    expectSame("what the work returned", result, "result");
    await stage.expectNothingLeft();
  }),
  scenario(
    "a lease that nobody extends is lost at its deadline, and others get in",
    async (stage) => {
      const { resource, ttlMs } = stage;
      const [one, two] = stage.pair();
      const lease = await one.acquire(resource);
      expectThat(lease.remainingMs() <= ttlMs, `${lease.remainingMs()} ms are left of ${ttlMs}`);
      const next = await two.acquire(resource);
      expectSame("whether both hold", lease.isHeld(), false);
      expectSame("what is left", lease.remainingMs(), 0);
      await expectSoon("the signal aborts", ttlMs, () => lease.signal.aborted);
      expectSame("why", isRedlockError(lease.signal.reason, "LEASE_LOST"), true);
      expectSame("its release", await lease.release(), "expired");
      expectSame("the next one's release", await next.release(), "released");
      await stage.expectNothingLeft();
    },
  ),
  scenario("a lease is handed over to another client as JSON", async (stage) => {
    const { resource } = stage;
    const [giver, taker] = stage.pair();
    const lease = await giver.acquire(resource, { owner: "giver" });
    const wire = JSON.stringify(lease.handOver());
    expectSame("whether the giver holds", lease.isHeld(), false);
    expectSame("the giver's release", await lease.release(), "expired");
    const adopted = await taker.restore(JSON.parse(wire) as LeaseHandle);
    expectSame("whether the taker holds", adopted.isHeld(), true);
    expectSame("tryAcquire of a third", await stage.client().tryAcquire(resource), null);
    await adopted.extend();
    expectSame("the taker's release", await adopted.release(), "released");
    const again = codeOf(taker.restore(JSON.parse(wire) as LeaseHandle));
    expectSame("restoring what was released", await again, "LEASE_LOST");
    await stage.expectNothingLeft();
  }),
  scenario("a second release answers like the first", async (stage) => {
    const lease = await stage.client().acquire(stage.resource);
    const [first, second] = await Promise.all([lease.release(), lease.release()]);
    expectSame("both answers", `${first} ${second}`, "released released");
    expectSame("an extension afterwards", await codeOf(lease.extend()), "LEASE_LOST");
    await stage.expectNothingLeft();
  }),
  scenario("keys that are gone on a majority make the lease lost", async (stage) => {
    const { resource, nodes, minority } = stage;
    const [one, two] = stage.pair();
    const lost: unknown[] = [];
    one.on("lost", ({ error }) => lost.push(error));
    const lease = await one.acquire(resource);
    await stage.loseKeys(nodes.length - minority);
    expectSame("an extension", await codeOf(lease.extend()), "LEASE_LOST");
    expectSame("whether the signal has aborted", lease.signal.aborted, true);
    expectSame("events", lost.length, 1);
    expectSame("whether it is held", lease.isHeld(), false);
    await stage.expectNothingLeft();
    const next = expectHeld("tryAcquire of another", await two.tryAcquire(resource));
    await next.release();
    await stage.expectNothingLeft();
  }),
  scenario("automatic extension reports lost keys well before the deadline", async (stage) => {
    const { resource, nodes, ttlMs } = stage;
    const lease = await stage.client().acquire(resource, { autoExtend: true });
    const { deadline } = lease;
    await stage.loseKeys(nodes.length);
    await expectSoon("the signal aborts", ttlMs, () => lease.signal.aborted);
    expectThat(Date.now() < deadline, "the loss was reported after the deadline only");
    expectSame("why", isRedlockError(lease.signal.reason, "LEASE_LOST"), true);
    await stage.expectNothingLeft();
  }),
  scenario("keys that are gone on a minority are set again", async (stage) => {
    const { resource, minority } = stage;
    const [one, two] = stage.pair();
    const lease = await one.acquire(resource);
    await stage.loseKeys(minority);
    await lease.extend();
    expectSame("whether it is held", lease.isHeld(), true);
    const failed = async () => (await two.inspect(resource)).nodes.map(({ state }) => state);
    const everywhere = async () => (await failed()).every((state) => state === "held");
    await expectSoon("every node has the key", stage.ttlMs / 2, everywhere);
    expectSame("release", await lease.release(), "released");
    await stage.expectNothingLeft();
  }),
];
