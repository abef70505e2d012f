import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { encode, parse, type Reply } from "./resp.ts";

/** One connection to a real server, for many commands; nothing is queued, repeated or reworded. */
export interface ServerConnection {
  /** Sends all commands at once; answers with their replies, in order. Errors are values. */
  send(commands: readonly (readonly string[])[]): Promise<readonly Reply[]>;
  end(): void;
}

/** Connects; `timeoutMs` limits each `send`. */
export async function serverConnection(
  { host, port }: { readonly host: string; readonly port: number },
  timeoutMs = 10_000,
): Promise<ServerConnection> {
  const socket = createConnection({ host, port, noDelay: true });
  await once(socket, "connect");
  // Each `send` listens for itself; an error between two of them shows in the next.
  socket.on("error", () => {});
  return {
    send: async (commands) => (commands.length === 0 ? [] : exchange(socket, commands, timeoutMs)),
    end: () => socket.destroy(),
  };
}

function exchange(
  socket: Socket,
  commands: readonly (readonly string[])[],
  timeoutMs: number,
): Promise<readonly Reply[]> {
  return new Promise((resolve, reject) => {
    const replies: Reply[] = [];
    let received: Buffer = Buffer.alloc(0);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      socket.off("data", read).off("close", fail);
      settle();
    };
    const fail = () => {
      const fact = `${replies.length} of ${commands.length} replies came`;
      finish(() => reject(new Error(`${fact} before the connection ended or ${timeoutMs} ms`)));
    };
    const read = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let parsed = parse(received, 0); parsed; parsed = parse(received, 0)) {
        replies.push(parsed.reply);
        received = received.subarray(parsed.end);
      }
      if (replies.length >= commands.length) finish(() => resolve(replies));
    };
    const timer = setTimeout(fail, timeoutMs);
    socket.on("data", read).on("close", fail);
    socket.write(commands.map(encode).join(""));
  });
}
