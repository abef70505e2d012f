import { createConnection, type Socket } from "node:net";
import { encode, parse, type Reply } from "./resp.ts";

export interface RedisTarget {
  readonly host: string;
  readonly port: number;
  readonly password?: string | undefined;
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** One lasting connection to a Redis server, made with the first command and again after it broke. */
export class RedisConnection {
  readonly #target: RedisTarget;
  readonly #waiting: Waiting[] = [];
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);

  constructor(target: RedisTarget) {
    this.#target = target;
  }

  /**
   * Sends the commands in one piece, so that none of another call comes between them.
   *
   * @returns One reply per command, error replies among them; rejects when the connection breaks.
   */
  async send(commands: readonly (readonly string[])[]): Promise<Reply[]> {
    const socket = this.#connected();
    const replies = commands.map(() => this.#reply());
    socket.write(commands.map(encode).join(""));
    return Promise.all(replies);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connected(): Socket {
    if (this.#socket) return this.#socket;
    const { host, port, password } = this.#target;
    const socket = createConnection({ host, port, noDelay: true });
    this.#socket = socket;
    this.#received = Buffer.alloc(0);
    let cause: Error | undefined;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => {
      cause = error;
    });
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
      const error = new Error(`no connection to ${host}:${port}: ${cause?.message ?? "closed"}`);
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    });
    if (password !== undefined) {
      // A wrong password shows in the replies that follow.
      this.#reply().catch(() => {});
      socket.write(encode(["AUTH", password]));
    }
    return socket;
  }

  #reply(): Promise<Reply> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const parsed = parse(this.#received, 0);
      if (!parsed) return;
      this.#received = this.#received.subarray(parsed.end);
      this.#waiting.shift()?.resolve(parsed.reply);
    }
  }
}
