import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What is broken now; shared by all connections of a proxy and read anew for each piece of data. */
export interface ProxyFaults {
  requestDelayMs: number;
  replyDelayMs: number;
  repliesToDrop: number;
  halfOpen: boolean;
}

/** One driver's connection: its socket, the socket to the server, and the faults between them. */
export class ProxyConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faults: ProxyFaults;

  constructor(client: Socket, server: Socket, faults: ProxyFaults) {
    this.#client = client;
    this.#server = server;
    this.#faults = faults;
    const requests = new Lane(server, () => faults.requestDelayMs);
    const replies = new Lane(client, () => faults.replyDelayMs);
    client.on("data", (chunk) => requests.forward(chunk));
    server.on("data", (chunk) => (this.#dropsReply() ? this.cut() : replies.forward(chunk)));
    client.on("end", () => requests.end());
    server.on("end", () => replies.end());
    for (const socket of [client, server]) {
      socket.on("error", () => this.cut());
      socket.on("close", () => this.cut());
    }
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  pause(): void {
    this.#client.pause();
    this.#server.pause();
  }

  resume(): void {
    this.#client.resume();
    this.#server.resume();
  }

  #dropsReply(): boolean {
    if (this.#faults.repliesToDrop === 0) return false;
    this.#faults.repliesToDrop -= 1;
    return true;
  }
}

/** One direction of a connection: data leaves in the order it came, each piece as late as was asked. */
class Lane {
  readonly #destination: Socket;
  readonly #delayMs: () => number;
  #last: Promise<void> | undefined;

  constructor(destination: Socket, delayMs: () => number) {
    this.#destination = destination;
    this.#delayMs = delayMs;
  }

  forward(chunk: Buffer): void {
    this.#enqueue(() => this.#destination.write(chunk));
  }

  end(): void {
    this.#enqueue(() => this.#destination.end());
  }

  #enqueue(deliver: () => void): void {
    const delayMs = this.#delayMs();
    // The common case stays synchronous, so that an idle proxy costs no more than its two sockets.
    if (delayMs === 0 && this.#last === undefined) {
      deliver();
      return;
    }
    const due = sleep(delayMs, undefined, { ref: false });
    const delivered = Promise.all([this.#last, due]).then(() => {
      if (this.#last === delivered) this.#last = undefined;
      if (!this.#destination.destroyed) deliver();
    });
    this.#last = delivered;
  }
}
