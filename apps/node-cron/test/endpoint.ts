import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** One call of the job's URL. */
export interface Call {
  readonly tick: string;
  readonly replica: string;
  readonly startedMs: number;
  /** `open` until it is answered; `broken` when the caller went away before. */
  state: "open" | "finished" | "broken";
}

/** What the job calls, and so an independent witness of who ran what. */
export class Endpoint implements AsyncDisposable {
  readonly calls: Call[] = [];
  readonly #server = createServer((request, response) => void this.#take(request, response));
  #holding = 0;

  static async start(): Promise<Endpoint> {
    const endpoint = new Endpoint();
    endpoint.#server.listen(0, "127.0.0.1");
    await once(endpoint.#server, "listening");
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/job`;
  }

  /** Leaves the next `count` calls without an answer. */
  hold(count: number): void {
    this.#holding = count;
  }

  /** Every tick that was called for, with what became of each of its calls. */
  byTick(): Map<string, Call["state"][]> {
    const ticks = new Map<string, Call["state"][]>();
    for (const { tick, state } of this.calls) ticks.set(tick, [...(ticks.get(tick) ?? []), state]);
    return ticks;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { tick, replica } = (await json(request)) as Pick<Call, "tick" | "replica">;
    const call: Call = { tick, replica, startedMs: performance.now(), state: "open" };
    this.calls.push(call);
    response.once("close", () => {
      call.state = response.writableFinished ? "finished" : "broken";
    });
    if (this.#holding > 0) this.#holding--;
    // Long enough that two replicas that run the same tick are seen to do so.
    else setTimeout(() => response.end(), 50);
  }
}
