import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisConnection } from "./redis-connection.ts";
import { errorAnswer, execute, type RestAnswer, restRequest } from "./rest-protocol.ts";
import type { DelayOptions, ProxyTarget } from "./tcp-proxy.ts";

export interface RestServerOptions {
  /** What clients have to send as Bearer token. @defaultValue "rest-token" */
  readonly token?: string;
  /** The Redis server's own password. */
  readonly password?: string | undefined;
}

/** An answer instead of an execution: Upstash's own error bodies, a gateway's HTML page, or any. */
export type ForcedAnswer = 429 | 500 | "html" | RestAnswer;

/** Redis over HTTP, as Upstash serves it, on 127.0.0.1; it breaks on demand. */
export interface RestServer extends AsyncDisposable {
  readonly host: "127.0.0.1";
  readonly port: number;
  readonly url: string;
  readonly token: string;
  /** How many requests came so far, whatever became of them. */
  readonly requests: number;
  /** How many commands Redis was sent so far. */
  readonly commands: number;
  /** Answers (or executes) each request `ms` milliseconds late. */
  delay(ms: number, options?: DelayOptions): void;
  /** `count` times: executes the request and cuts the connection instead of answering. */
  dropReplies(count: number): void;
  /** Answers the next `count` requests without executing them. @defaultValue all, until heal() */
  answer(answer: ForcedAnswer, count?: number): void;
  /** Executes the next request right after the one that follows it has been executed. */
  reorder(): void;
  /** Accepts requests, but neither executes nor answers any until heal(). */
  halfOpen(): void;
  /** Undoes every fault; what waited goes on. */
  heal(): void;
  stop(): Promise<void>;
}

const FORCED: Readonly<Record<429 | 500 | "html", RestAnswer>> = {
  429: errorAnswer(429, "ERR max requests limit exceeded. Limit: 500000, Usage: 500000."),
  500: errorAnswer(500, "ERR internal server error"),
  html: {
    status: 502,
    body: "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
    contentType: "text/html",
  },
};

/**
 * Starts a server that speaks Upstash's REST protocol in front of a real Redis server: `POST /`,
 * `/pipeline` and `/multi-exec`, Bearer tokens, `Upstash-Encoding: base64`, sync tokens and error bodies.
 */
export async function restServer(
  { host, port }: ProxyTarget,
  { token = "rest-token", password }: RestServerOptions = {},
): Promise<RestServer> {
  const server = new FaultyRestServer(new RedisConnection({ host, port, password }), token);
  await server.listen();
  return server;
}

class FaultyRestServer implements RestServer {
  readonly host = "127.0.0.1" as const;
  readonly token: string;
  requests = 0;
  commands = 0;
  readonly #redis: RedisConnection;
  readonly #listener: Server;
  #port = 0;
  #requestDelayMs = 0;
  #replyDelayMs = 0;
  #repliesToDrop = 0;
  #forced: { readonly answer: RestAnswer; left: number } | undefined;
  #halfOpen: Gate | undefined;
  /** Armed by reorder(); from then on taken by the first request, opened by the second. */
  #overtaking: { readonly gate: Gate; taken: boolean } | undefined;

  constructor(redis: RedisConnection, token: string) {
    this.#redis = redis;
    this.token = token;
    this.#listener = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    // Clients close idle connections. Closed from here, one may just be used again, and the request be lost.
    this.#listener.keepAliveTimeout = 0;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://${this.host}:${this.#port}`;
  }

  async listen(): Promise<void> {
    this.#listener.listen(0, this.host);
    await once(this.#listener, "listening");
    this.#port = (this.#listener.address() as AddressInfo).port;
  }

  delay(ms: number, { of = "replies" }: DelayOptions = {}): void {
    if (of === "requests") this.#requestDelayMs = ms;
    else this.#replyDelayMs = ms;
  }

  dropReplies(count: number): void {
    this.#repliesToDrop = count;
  }

  answer(answer: ForcedAnswer, count: number = Infinity): void {
    this.#forced = { answer: typeof answer === "object" ? answer : FORCED[answer], left: count };
  }

  reorder(): void {
    this.#overtaking ??= { gate: new Gate(), taken: false };
  }

  halfOpen(): void {
    this.#halfOpen ??= new Gate();
  }

  heal(): void {
    this.#requestDelayMs = 0;
    this.#replyDelayMs = 0;
    this.#repliesToDrop = 0;
    this.#forced = undefined;
    this.#overtaking?.gate.open();
    this.#overtaking = undefined;
    this.#halfOpen?.open();
    this.#halfOpen = undefined;
  }

  async stop(): Promise<void> {
    this.heal();
    const closed = this.#listener.listening && once(this.#listener, "close");
    this.#listener.close();
    this.#listener.closeAllConnections();
    this.#redis.close();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    const number = this.requests;
    const body = await text(request);
    await this.#halfOpen?.opened;
    const answer = this.#forcedAnswer() ?? (await this.#answerTo(request, body));
    if (this.#dropsReply()) {
      request.socket.resetAndDestroy();
      return;
    }
    if (this.#replyDelayMs) await sleep(this.#replyDelayMs, undefined, { ref: false });
    await this.#halfOpen?.opened;
    response.writeHead(answer.status, {
      "content-type": answer.contentType ?? "application/json",
      "upstash-sync-token": `sync-${number}`,
    });
    response.end(answer.body);
  }

  async #answerTo({ headers, method, url = "" }: IncomingMessage, body: string) {
    if (headers.authorization !== `Bearer ${this.token}`) {
      return errorAnswer(401, "WRONGPASS invalid or missing auth token");
    }
    if (method !== "POST") return errorAnswer(405, `ERR ${method} is not served here`);
    const request = restRequest(url, body, headers["upstash-encoding"] === "base64");
    if ("status" in request) return request;
    if (this.#requestDelayMs) await sleep(this.#requestDelayMs, undefined, { ref: false });
    return this.#inTurn(async () => {
      this.commands += request.commands.length;
      try {
        return await execute(this.#redis, request);
      } catch (error) {
        return errorAnswer(500, `ERR ${(error as Error).message}`);
      }
    });
  }

  async #inTurn(run: () => Promise<RestAnswer>): Promise<RestAnswer> {
    const overtaking = this.#overtaking;
    if (!overtaking) return run();
    if (!overtaking.taken) {
      overtaking.taken = true;
      await overtaking.gate.opened;
      return run();
    }
    this.#overtaking = undefined;
    const answer = await run();
    overtaking.gate.open();
    return answer;
  }

  #forcedAnswer(): RestAnswer | undefined {
    if (!this.#forced || this.#forced.left <= 0) return undefined;
    this.#forced.left -= 1;
    return this.#forced.answer;
  }

  #dropsReply(): boolean {
    if (this.#repliesToDrop === 0) return false;
    this.#repliesToDrop -= 1;
    return true;
  }
}

class Gate {
  open!: () => void;
  readonly opened: Promise<void> = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}
