import { isRedlockError, Redlock } from "@redlatch/core";
import { upstashNode } from "@redlatch/upstash";
import { Redis } from "@upstash/redis/cloudflare";
import { type Config, ConfigError, type Env, readConfig } from "./config.ts";
import { once } from "./once.ts";

/** Takes webhooks: `POST /webhooks/<source>` with a `webhook-id`. Each one is sent to TARGET_URL once. */
export default {
  async fetch(request, env, ctx): Promise<Response> {
    const handling = handle(request, env, (promise) => ctx.waitUntil(promise));
    // Without this, a sender that hangs up would end the work, and leave its lock to expire.
    ctx.waitUntil(handling);
    return handling;
  },
} satisfies ExportedHandler<Env>;

type WaitUntil = (promise: Promise<unknown>) => void;

async function handle(request: Request, env: Env, waitUntil: WaitUntil): Promise<Response> {
  const { signal } = request;
  signal.addEventListener("abort", () => console.log("the sender hung up"));
  try {
    return await route(request, readConfig(env), { signal, waitUntil });
  } catch (error) {
    return answerTo(error, signal);
  }
}

async function route(
  request: Request,
  config: Config,
  options: { readonly signal: AbortSignal; readonly waitUntil: WaitUntil },
): Promise<Response> {
  const [, source] = /^\/webhooks\/([\w-]+)$/.exec(new URL(request.url).pathname) ?? [];
  if (!source) return answer(404, "there is only /webhooks/<source>");
  if (request.method !== "POST") return answer(405, "use POST", { allow: "POST" });
  const id = request.headers.get("webhook-id");
  if (!id || id.length > 256) return answer(400, "webhook-id is missing, or too long");

  const body = await request.arrayBuffer();
  const type = request.headers.get("content-type") ?? "application/octet-stream";
  const work = (signal: AbortSignal) => {
    const headers = { "content-type": type, "webhook-id": id, "webhook-source": source };
    return send(config.targetUrl, { method: "POST", headers, body, signal });
  };
  const outcome = await once(redlockOf(config), `${source}:${id}`, work, options);
  if (outcome === "busy") return answer(409, outcome, SOON);
  return answer(200, outcome);
}

/** For one request: in Workers, what waits in one request must not be woken by another one. */
function redlockOf({ databases }: Config): Redlock {
  return new Redlock(databases.map((database) => upstashNode(new Redis(database))));
}

class TargetError extends Error {
  override readonly name = "TargetError";
}

async function send(url: string, init: RequestInit): Promise<void> {
  const { ok, status, body } = await fetch(url, init);
  await body?.cancel();
  if (!ok) throw new TargetError(`the target answered ${status}`);
}

const SOON = { "retry-after": "5" };

/** The event is not processed, as far as is known: the sender should try again. */
function answerTo(error: unknown, { aborted }: AbortSignal): Response {
  if (aborted && !(error instanceof TargetError)) return answer(499, "cancelled");
  const { message } = error as Error;
  console.error(message);
  if (error instanceof ConfigError) return answer(500, "not configured: see the log");
  if (error instanceof TargetError) return answer(502, message);
  if (isRedlockError(error, "QUORUM_UNREACHABLE")) return answer(503, "no quorum", SOON);
  return answer(502, "failed: see the log");
}

function answer(status: number, outcome: string, headers: HeadersInit = {}): Response {
  return Response.json({ outcome }, { status, headers });
}
