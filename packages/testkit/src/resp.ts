/** A reply as RESP2 knows it; nested errors stay values. */
export type Reply = string | number | null | ReplyError | Reply[];

/** The server answered with an error, for instance WRONGTYPE. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** A command as a server reads it. */
export function encode(args: readonly string[]): string {
  const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${parts.join("")}`;
}

export interface Parsed {
  readonly reply: Reply;
  readonly end: number;
}

/** Reads the reply that begins at `start`, or answers undefined while bytes are missing. */
export function parse(bytes: Buffer, start: number): Parsed | undefined {
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
