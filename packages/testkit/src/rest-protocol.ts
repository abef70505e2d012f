import type { RedisConnection } from "./redis-connection.ts";
import { type Reply, ReplyError } from "./resp.ts";

/** What a REST server is asked for: how the commands belong together, and the commands. */
export interface RestRequest {
  readonly kind: "single" | "pipeline" | "transaction";
  readonly commands: readonly (readonly string[])[];
  /** Whether results are wanted in base64. */
  readonly base64: boolean;
}

export interface RestAnswer {
  readonly status: number;
  readonly body: string;
  /** @defaultValue "application/json" */
  readonly contentType?: string;
}

const KINDS: Readonly<Record<string, RestRequest["kind"]>> = {
  "/": "single",
  "/pipeline": "pipeline",
  "/multi-exec": "transaction",
};

export const errorAnswer = (status: number, error: string): RestAnswer => ({
  status,
  body: JSON.stringify({ error }),
});

/** Reads a request of Upstash's REST protocol; an answer where it is none. */
export function restRequest(path: string, body: string, base64: boolean): RestRequest | RestAnswer {
  const kind = KINDS[path];
  if (!kind) return errorAnswer(404, `ERR no such path: ${path}`);
  const parsed = parsedJson(body);
  const commands = (kind === "single" ? [parsed] : list(parsed))?.map(command);
  if (!commands?.length || commands.includes(undefined)) {
    return errorAnswer(400, "ERR failed to parse the commands: not an array of strings");
  }
  return { kind, base64, commands: commands as string[][] };
}

/** Has the request executed and puts the replies as Upstash does. */
export async function execute(
  connection: RedisConnection,
  { kind, commands, base64 }: RestRequest,
): Promise<RestAnswer> {
  const result = (reply: Reply) =>
    reply instanceof ReplyError
      ? { error: reply.message }
      : { result: base64 ? encoded(reply) : reply };
  if (kind === "transaction") {
    const reply = (await connection.send([["MULTI"], ...commands, ["EXEC"]])).at(-1)!;
    return Array.isArray(reply)
      ? { status: 200, body: JSON.stringify(reply.map(result)) }
      : errorAnswer(400, String((reply as ReplyError).message));
  }
  const replies = await connection.send(commands);
  if (kind === "pipeline") return { status: 200, body: JSON.stringify(replies.map(result)) };
  const [reply] = replies as [Reply];
  return { status: reply instanceof ReplyError ? 400 : 200, body: JSON.stringify(result(reply)) };
}

/** Upstash's base64: of every string but an "OK" at the top. */
function encoded(reply: Reply): Reply {
  return reply === "OK" ? reply : deeplyEncoded(reply);
}

function deeplyEncoded(reply: Reply): Reply {
  if (typeof reply === "string") return Buffer.from(reply).toString("base64");
  return Array.isArray(reply) ? reply.map(deeplyEncoded) : reply;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const list = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : undefined;

/** A command's name and arguments as strings; Upstash takes numbers and booleans as well. */
function command(value: unknown): string[] | undefined {
  const args = list(value);
  return args?.length && args.every((arg) => /string|number|boolean/.test(typeof arg))
    ? args.map(String)
    : undefined;
}
