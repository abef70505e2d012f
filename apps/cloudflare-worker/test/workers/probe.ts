import type { Env } from "../../src/config.ts";
import app from "../../src/worker.ts";

/** Names the isolate. Not at the top: there is no randomness outside of a request. */
let isolate: string | undefined;

// The Worker as it is deployed, which also tells where it ran.
export default {
  async fetch(request, env, ctx): Promise<Response> {
    isolate ??= crypto.randomUUID();
    const response = await app.fetch(request, env, ctx);
    response.headers.set("x-isolate", isolate);
    return response;
  },
} satisfies ExportedHandler<Env>;
