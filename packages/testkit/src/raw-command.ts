import { createConnection } from "node:net";

/** A reply as RESP2 knows it; nested errors stay values. */
export type Reply = string | number | null | ReplyError | Reply[];

/** The server answered with an error, for instance WRONGTYPE. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

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

function encode(args: readonly string[]): string {
  const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${parts.join("")}`;
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

interface Parsed {
  readonly reply: Reply;
  readonly end: number;
}

function parse(bytes: Buffer, start: number): Parsed | undefined {
  const lineEnd = bytes.indexOf("\r\n", start);
  if (lineEnd < 0) return undefined;
  const kind = String.fromCharCode(bytes[start] ?? 0);
  const line = bytes.toString("utf8", start + 1, lineEnd);
  const end = lineEnd + 2;
  if (kind === "+") return { reply: line, end };
  if (kind === "-") return { reply: new ReplyError(line), end };
  if (kind === ":") return { reply: Number(line), end };
  if (kind === "$") return parseBulk(bytes, Number(line), end);
  if (kind === "*") return parseArray(bytes, Number(line), end);
  throw new Error(`not a RESP2 reply: ${kind}${line}`);
}

function parseBulk(bytes: Buffer, length: number, start: number): Parsed | undefined {
  if (length < 0) return { reply: null, end: start };
  const end = start + length + 2;
  if (bytes.length < end) return undefined;
  return { reply: bytes.toString("utf8", start, end - 2), end };
}

function parseArray(bytes: Buffer, length: number, start: number): Parsed | undefined {
  if (length < 0) return { reply: null, end: start };
  const reply: Reply[] = [];
  let end = start;
  while (reply.length < length) {
    const item = parse(bytes, end);
    if (item === undefined) return undefined;
    reply.push(item.reply);
    end = item.end;
  }
  return { reply, end };
}
