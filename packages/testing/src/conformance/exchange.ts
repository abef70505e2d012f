import type { Command, RedisNode } from "@redlatch/core";

/** How long a working node may take for anything, in milliseconds: a promise that still pends is a fault. */
const PATIENCE_MS = 10_000;

/** A signal for commands that nobody aborts; a new one each time, as the core gives. */
const unaborted = (): AbortSignal => new AbortController().signal;

/** Sends one command as the core does, and gives the reply as the driver gave it. */
export async function rawReply(node: RedisNode, command: Command, key: string): Promise<unknown> {
  const what = `${node.name}: ${shown(command)}`;
  const reply: unknown = node.send([...command], { key, signal: unaborted() });
  if (typeof (reply as Promise<unknown> | undefined)?.then !== "function") {
    throw new Error(`${what} gave ${shown(reply)}, which is no promise`);
  }
  return within(reply as Promise<unknown>, PATIENCE_MS, what);
}

/** Sends one command and reads its reply as the core does. */
export async function replyOf(
  node: RedisNode,
  command: Command,
  key: string = command[1] ?? "",
): Promise<string> {
  return textOf(await rawReply(node, command, key), `${node.name}: ${shown(command)}`);
}

/** Runs a script on one key. */
export const evaluated = (
  node: RedisNode,
  lua: string,
  key: string,
  ...args: string[]
): Promise<string> => replyOf(node, ["EVAL", lua, "1", key, ...args], key);

/** Sends one command that has to be refused, and gives what the rejection says. */
export async function refusalOf(
  node: RedisNode,
  command: Command,
  key: string = command[1] ?? "",
): Promise<string> {
  let promise: Promise<unknown>;
  try {
    promise = node.send([...command], { key, signal: unaborted() });
  } catch (error) {
    throw new Error(
      `${node.name}: ${shown(command)} was thrown synchronously (${error}): reject instead`,
    );
  }
  const refusal = promise.then(
    (reply) => {
      throw new Error(`${node.name}: ${shown(command)} resolved with ${shown(reply)}: reject it`);
    },
    (error: unknown) => String(error),
  );
  return within(refusal, PATIENCE_MS, `${node.name}: ${shown(command)}`);
}

/** Rejects when the promise has not settled in time. */
function within<Value>(promise: Promise<Value>, ms: number, what: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not settle within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** A reply as text, from each form that the core accepts: text, bytes, whole numbers. */
export function textOf(reply: unknown, what: string): string {
  if (typeof reply === "string") return reply;
  if (typeof reply === "bigint" || Number.isSafeInteger(reply)) return String(reply);
  if (reply instanceof Uint8Array) return new TextDecoder().decode(reply);
  throw new Error(`${what} gave ${shown(reply)}: neither text nor bytes nor a whole number`);
}

/** Any value in an error's message, cut to a length that one can read. */
export function shown(value: unknown): string {
  let text: string | undefined;
  try {
    text = typeof value === "bigint" ? `${value}n` : JSON.stringify(value);
  } catch {
    // A cycle, a bigint inside: what follows is less, but something.
  }
  text ??= String(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
