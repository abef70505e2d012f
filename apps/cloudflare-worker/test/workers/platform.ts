import { Redlock } from "@redlatch/core";
import { upstashNode } from "@redlatch/upstash";
import { Redis } from "@upstash/redis/cloudflare";

interface Bindings {
  readonly UPSTASH_URLS: string;
  readonly UPSTASH_TOKENS: string;
}

const make = ({ UPSTASH_URLS, UPSTASH_TOKENS }: Bindings): Redlock => {
  const tokens = UPSTASH_TOKENS.split(",");
  const clients = UPSTASH_URLS.split(",").map((url, at) => new Redis({ url, token: tokens[at]! }));
  return new Redlock(clients.map((client) => upstashNode(client)));
};

const realNow = Date.now.bind(Date);
const realFetch = fetch;
const realTimeout = setTimeout;

/**
 * Makes both clocks stand still between I/O, as they do at Cloudflare (and not in workerd when it is run
 * anywhere else): they show when the last answer came, or the last timer fired.
 */
function standStill(): void {
  let shownMs = realNow();
  const look = () => {
    shownMs = realNow();
  };
  Date.now = () => shownMs;
  performance.now = () => shownMs;
  globalThis.fetch = async (...request: Parameters<typeof fetch>) => {
    const response = await realFetch(...request);
    look();
    return response;
  };
  globalThis.setTimeout = ((run: () => void, ms?: number) =>
    realTimeout(() => {
      look();
      run();
    }, ms)) as typeof setTimeout;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function compute(ms: number): void {
  const endMs = realNow() + ms;
  while (realNow() < endMs);
}

/** What a lease of 500 ms says before and after work of 600 ms without I/O, and after the next I/O. */
async function leaseAndCompute(redlock: Redlock) {
  const askedMs = realNow();
  const lease = await redlock.acquire("computing", { ttlMs: 500 });
  const look = () => ({
    lastsMs: lease.deadline - askedMs,
    ageMs: realNow() - askedMs,
    remainingMs: lease.remainingMs(),
    held: lease.isHeld(),
    aborted: lease.signal.aborted,
  });
  const before = look();
  compute(600);
  const afterWork = look();
  await pause(0);
  return { before, afterWork, afterInput: look() };
}

/** Hands `ctx.waitUntil` over by itself, and then as a function of its own. */
async function handOver(redlock: Redlock, ctx: ExecutionContext): Promise<unknown> {
  const { waitUntil } = ctx;
  let refusal = "";
  try {
    waitUntil(Promise.resolve());
  } catch (error) {
    refusal = String(error);
  }
  const unbound = await redlock.using("hand-over", { waitUntil }, () => "done");
  let handedOver = 0;
  const bound = (work: Promise<unknown>) => {
    ctx.waitUntil(work);
    handedOver++;
  };
  await redlock.using("hand-over", { waitUntil: bound }, () => "done");
  return { refusal, unbound, handedOver };
}

let shared: Redlock | undefined;

/** What docs/serverless.md says about Workers, for a test to look at. */
export default {
  async fetch(request, env, ctx): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/clocks") {
      standStill();
      return Response.json(await leaseAndCompute(make(env)));
    }
    if (pathname === "/hand-over") return Response.json(await handOver(make(env), ctx));
    // One Redlock for all requests of the isolate.
    shared ??= make(env);
    const order = await shared.using("turn", { waitMs: 8_000 }, async () => {
      await pause(50);
      return "done";
    });
    return Response.json(order);
  },
} satisfies ExportedHandler<Bindings>;
