import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Miniflare } from "miniflare";

const COMPATIBILITY = {
  compatibilityDate: "2026-04-01",
  compatibilityFlags: ["enable_request_signal"],
};

/** The app in workerd, behind a sender that can hang up. */
export class Workerd implements AsyncDisposable {
  /** What the Worker logged. */
  readonly log: string[] = [];
  readonly #miniflare: Miniflare;

  private constructor(app: string, sender: string, bindings: Record<string, string>) {
    const { log } = this;
    this.#miniflare = new Miniflare({
      cf: false,
      handleRuntimeStdio(stdout: Readable, stderr: Readable) {
        for (const stream of [stdout, stderr]) stream.on("data", (data) => log.push(String(data)));
      },
      workers: [
        { name: "sender", ...worker(sender), serviceBindings: { APP: "app" } },
        { name: "app", ...worker(app), bindings },
      ],
    });
  }

  static async start(bindings: Record<string, string>): Promise<Workerd> {
    const [app, sender] = await Promise.all([bundle("probe.ts"), bundle("sender.ts")]);
    const workerd = new Workerd(app, sender, bindings);
    await workerd.#miniflare.ready;
    return workerd;
  }

  async deliver(id: string, more: Record<string, string> = {}) {
    const response = await this.#miniflare.dispatchFetch("http://app.test/webhooks/shop", {
      method: "POST",
      body: JSON.stringify({ id }),
      headers: { "content-type": "application/json", "webhook-id": id, ...more },
    });
    const { status, headers } = response;
    const { outcome } = status === 299 ? { outcome: "" } : ((await response.json()) as Answer);
    return {
      status,
      outcome,
      retryAfter: headers.get("retry-after"),
      isolate: headers.get("x-isolate"),
    };
  }

  /** Delivers, and hangs up when `when` resolves. */
  async hangUp(id: string, when: Promise<unknown>): Promise<void> {
    const server = createServer((_, response) => void when.then(() => response.end()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { status } = await this.deliver(id, { "hang-up": `http://127.0.0.1:${port}/` });
    server.close();
    if (status !== 299) throw new Error(`the sender got an answer, ${status}, before it hung up`);
  }

  async request(method: string, path: string, headers: Record<string, string> = {}) {
    return this.#miniflare.dispatchFetch(`http://app.test${path}`, { method, headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#miniflare.dispose();
  }
}

interface Answer {
  readonly outcome: string;
}

export const worker = (contents: string) => ({
  ...COMPATIBILITY,
  modules: [{ type: "ESModule" as const, path: "worker.mjs", contents }],
});

/** Bundles as wrangler does: with the packages as they are built. */
export async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`workers/${file}`, import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}
