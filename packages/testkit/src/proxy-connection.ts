import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What is broken now; shared by all connections of a proxy and read anew for each piece of data. */
export interface ProxyFaults {
  requestDelayMs: number;
  replyDelayMs: number;
  /** Infinity where nothing is throttled. */
  bytesPerSecond: number;
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
    const bytesPerSecond = () => faults.bytesPerSecond;
    const requests = new Lane(server, () => faults.requestDelayMs, bytesPerSecond);
    const replies = new Lane(client, () => faults.replyDelayMs, bytesPerSecond);
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
  readonly #bytesPerSecond: () => number;
  #last: Promise<void> | undefined;

  constructor(destination: Socket, delayMs: () => number, bytesPerSecond: () => number) {
    this.#destination = destination;
    this.#delayMs = delayMs;
    this.#bytesPerSecond = bytesPerSecond;
  }

  forward(chunk: Buffer): void {
    this.#enqueue(() => this.#destination.write(chunk), chunk.length);
  }

  end(): void {
    this.#enqueue(() => this.#destination.end(), 0);
  }

  #enqueue(deliver: () => void, bytes: number): void {
    const delayMs = this.#delayMs();
    const isFree = this.#transmissionMs(bytes) === 0;
    // The common case stays synchronous, so that an idle proxy costs no more than its two sockets.
    if (delayMs === 0 && isFree && this.#last === undefined) {
      deliver();
      return;
    }
    const due = sleep(delayMs, undefined, { ref: false });
    const delivered = Promise.all([this.#last, due]).then(async () => {
      // The rate of now: what still waits when the fault is healed goes at full speed.
      const transmissionMs = this.#transmissionMs(bytes);
      if (transmissionMs > 0) await sleep(transmissionMs, undefined, { ref: false });
      if (this.#last === delivered) this.#last = undefined;
      if (!this.#destination.destroyed) deliver();
    });
    this.#last = delivered;
  }

  #transmissionMs(bytes: number): number {
    return (bytes / this.#bytesPerSecond()) * 1_000;
  }
}
