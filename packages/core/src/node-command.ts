import type { RedisNode, SendOptions } from "./redis-node.ts";
import type { Script } from "./scripts.ts";
import { shown } from "./shown.ts";
import { type Vote, voteOf } from "./vote.ts";

/**
 * Runs one script on one node and reads the reply as a vote. Never rejects: an error, a synchronous throw,
 * a rejection with nothing and a nonsense reply are `failed` votes. Settles only when the driver does; the
 * time limit is the round's.
 *
 * @param args - The number of keys, the keys, their value and the script's own argument.
 * @param value - What the keys hold if they are ours.
 */
export async function ask(
  node: RedisNode,
  script: Script,
  args: readonly string[],
  value: string,
  options: SendOptions,
): Promise<Vote> {
  try {
    let reply: unknown;
    try {
      reply = await node.send(["EVALSHA", script.sha, ...args], options);
    } catch (error) {
      // Valkey GLIDE words it "NoScriptError".
      if (!/NOSCRIPT|NoScriptError/.test(String(error))) throw error;
      reply = await node.send(["EVAL", script.lua, ...args], options);
    }
    return voteOf(node.name, textOf(reply), value);
  } catch (error) {
    return failed(node.name, error);
  }
}

/** Whether the driver knows that the command never left: nothing can come of it later. */
export const isUnsent = (cause: Error): boolean =>
  (cause as { code?: unknown }).code === "NOT_SENT";

/** A vote of a node that gave no usable answer. */
export const failed = (node: string, error: unknown): Vote => ({
  node,
  outcome: "failed",
  cause: causeOf(error),
});

/** Drivers reply with text, numbers or bytes: one form from here on. */
export function textOf(reply: unknown): string {
  switch (typeof reply) {
    case "string":
      return reply;
    case "number":
    case "bigint":
      return String(reply);
    default:
      if (reply instanceof Uint8Array) return new TextDecoder().decode(reply);
      throw new Error(`unexpected reply of type ${reply === null ? "null" : typeof reply}`);
  }
}

function causeOf(error: unknown): Error {
  const cause = error instanceof Error ? error : new Error(`rejected with ${shown(error)}`);
  if (!/CROSSSLOT/.test(cause.message)) return cause;
  return new Error(
    `${cause.message}: on a Redis Cluster all resources of one lease need the same hash tag, e.g. "{cart:7}:items" and "{cart:7}:total"`,
    { cause },
  );
}
