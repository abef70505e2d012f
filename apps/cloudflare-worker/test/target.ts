import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** Where the webhooks go: a witness of how often each one was processed. */
export class Target implements AsyncDisposable {
  /** The ids of the webhooks that came, and those that were answered with 200. */
  readonly began: string[] = [];
  readonly processed: string[] = [];
  /** Answers so to what comes. */
  status = 200;
  /** While it is set, nothing is answered before it resolves. */
  held: Promise<unknown> | undefined;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async start(): Promise<Target> {
    const target = new Target();
    target.#server.listen(0, "127.0.0.1");
    await once(target.#server, "listening");
    return target;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = String(request.headers["webhook-id"]);
    await text(request);
    this.began.push(id);
    await this.held;
    response.statusCode = this.status;
    response.end();
    if (this.status === 200) this.processed.push(id);
  }
}
