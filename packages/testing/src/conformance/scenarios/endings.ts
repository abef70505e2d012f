import { defineNode, isRedlockError, type RedisNode } from "@redlatch/core";
import { pause } from "../exchange.ts";
import { expectSame, expectThat } from "../expectation.ts";
import type { LockScenario } from "../scenario.ts";
import { codeOf, scenario } from "./stage.ts";

/** The first `count` nodes replaced by ones that give no answer. */
const broken = (nodes: readonly RedisNode[], count: number, send: RedisNode["send"]): RedisNode[] =>
  nodes.map((node, index) => (index < count ? defineNode(node.name, send) : node));

const silent = (): Promise<never> => new Promise(() => {});
const refusing = (): Promise<never> => Promise.reject(new Error("connection refused"));

export const endingScenarios: readonly LockScenario[] = [
  scenario("an aborted wait rejects with the caller's reason and leaves nothing", async (stage) => {
    const { resource } = stage;
    const [holder, waiter] = stage.pair();
    const reason = new Error("no longer wanted");
    const early = waiter.acquire(resource, { signal: AbortSignal.abort(reason) });
    expectSame("aborted before", await early.catch((error) => error), reason);
    const lease = await holder.acquire(resource);
    const controller = new AbortController();
    const { signal } = controller;
    const late = waiter.acquire(resource, { signal, waitMs: Infinity }).catch((error) => error);
    await pause(30);
    controller.abort(reason);
    expectSame("aborted while waiting", await late, reason);
    expectSame("whether the holder still holds", lease.isHeld(), true);
    await lease.release();
    await stage.expectNothingLeft();
  }),
  scenario("an abort in the middle of an attempt leaves nothing", async (stage) => {
    const controller = new AbortController();
    const { signal } = controller;
    const nodes = stage.nodes.map((node) =>
      defineNode(node.name, (command, options) => {
        const reply = node.send(command, options);
        controller.abort("no longer wanted");
        return reply;
      }),
    );
    const attempt = stage.client({}, nodes).acquire(stage.resource, { signal });
    expectSame("the reason", await attempt.catch((error) => error), "no longer wanted");
    await stage.expectNothingLeft();
  }),
  scenario("an abort reaches the work, whose lock is still released", async (stage) => {
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const result = await stage.client().using(stage.resource, options, async ({ signal }) => {
      controller.abort("shutting down");
      return signal.reason;
    });
    expectSame("the work's reason", result, "shutting down");
    await stage.expectNothingLeft();
  }),
  scenario("close ends waits and work, and releases what has ended", async (stage) => {
    const { resource } = stage;
    const client = stage.client();
    let told: unknown;
    let work: Promise<void> | undefined;
    await new Promise<void>((started, failed) => {
      work = client.using(resource, async ({ signal }) => {
        started();
        await new Promise<void>((aborted) => signal.addEventListener("abort", () => aborted()));
        told = signal.reason;
      });
      work.catch(failed);
    });
    const waiting = codeOf(client.acquire(resource, { waitMs: Infinity }));
    await client.close();
    expectSame("the one who waited", await waiting, "CLOSED");
    await work;
    expectSame("what the work was told", isRedlockError(told, "CLOSED"), true);
    expectSame("a later call", await codeOf(client.acquire(resource)), "CLOSED");
    await stage.expectNothingLeft();
  }),
  scenario("a minority that is silent or refuses does not matter", async (stage) => {
    const { resource, nodes, minority } = stage;
    for (const send of [silent, refusing]) {
      const client = stage.client({}, broken(nodes, minority, send));
      const lease = await client.acquire(resource);
      await lease.extend();
      expectSame("release", await lease.release(), "released");
      await stage.expectNothingLeft();
    }
  }),
  scenario("a majority that is silent or refuses is no quorum, in time", async (stage) => {
    const { resource, nodes, minority, ttlMs } = stage;
    for (const send of [silent, refusing]) {
      const client = stage.client({}, broken(nodes, nodes.length - minority, send));
      const startedMs = performance.now();
      const code = await codeOf(client.acquire(resource, { waitMs: 0 }));
      const tookMs = performance.now() - startedMs;
      expectSame("acquire", code, "QUORUM_UNREACHABLE");
      expectThat(tookMs < ttlMs, `it took ${tookMs} ms`);
      await stage.expectNothingLeft();
    }
  }),
];
