import { createConnection } from "node:net";
import { encode, type Parsed, parse, type Reply, ReplyError } from "./resp.ts";

export interface RawCommand {
  readonly host: string;
  readonly port: number;
  readonly password?: string | undefined;
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

/**
 * Sends one command on a connection of its own, so that no driver's queue, retry or rewording is
 * between the test and the server.
 *
 * @throws ReplyError when the server answers with an error; Error when it does not answer in time.
 */
export function rawCommand(command: RawCommand): Promise<Reply> {
  const { host, port, password, args, timeoutMs } = command;
  const requests = password === undefined ? [args] : [["AUTH", password], args];
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host, port, noDelay: true });
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    const timer = setTimeout(() => {
      const fact = `no reply to ${args[0]} from ${host}:${port} within ${timeoutMs} ms`;
      finish(() => reject(new Error(fact)));
    }, timeoutMs);
    let received: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      const reply = lastReply(received, requests.length);
      if (reply === undefined) return;
      finish(() => (reply instanceof ReplyError ? reject(reply) : resolve(reply)));
    });
    socket.on("error", (error) => finish(() => reject(error)));
    socket.on("close", () => {
      finish(() => reject(new Error(`${host}:${port} closed the connection before its reply`)));
    });
    socket.write(requests.map(encode).join(""));
  });
}

/** The reply with that number (an error ends the wait early), or undefined while bytes are missing. */
function lastReply(bytes: Buffer, count: number): Reply | undefined {
  let parsed: Parsed | undefined;
  for (let number = 0; number < count; number++) {
    parsed = parse(bytes, parsed?.end ?? 0);
    if (parsed === undefined) return undefined;
    if (parsed.reply instanceof ReplyError) return parsed.reply;
  }
  return parsed?.reply;
}
