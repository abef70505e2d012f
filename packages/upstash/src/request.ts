import type { HttpClient } from "./client.ts";

const EXCERPT_LENGTH = 200;

/**
 * Sends one command, once, and reads the answer as Upstash's REST protocol means it.
 *
 * Not by the client's own request(): there a signal of the client's configuration, once aborted, makes
 * every failing call RESOLVE, with the reason of the abort (a reason of 1 would be a grant); it sends what
 * failed up to six times; and its errors repeat the command, token included, but not the status.
 */
export async function ask(
  { baseUrl, headers, options }: HttpClient,
  command: readonly string[],
  signal: AbortSignal,
): Promise<unknown> {
  // Results as they are; and a sync token is for reads from replicas, which are never votes.
  const { "Upstash-Encoding": _, "upstash-sync-token": __, ...sent } = headers;
  const response = await fetch(baseUrl, {
    ...options,
    // Set to anything else, a cache could repeat an old vote. Left out where workerd knows no such field.
    ...(options.cache && { cache: "no-store" }),
    keepalive: options.keepAlive !== false,
    method: "POST",
    headers: sent,
    body: JSON.stringify(command),
    signal,
  }).catch((error) => {
    const { message, cause } = Object(error);
    // Node says no more than "fetch failed" by itself.
    const fact = cause?.message || cause?.code;
    throw fact ? new Error(`${message}: ${fact}`, { cause }) : error;
  });
  const { ok, status } = response;
  const text = await response.text();
  const { result, error } = parsed(text);
  if (ok && result !== undefined && !error) return result;
  // An error of Redis itself is told in its own words.
  const story = (ok || status === 400) && error ? `${error}` : `HTTP ${status}: ${error ?? text}`;
  throw new Error(withoutSecrets(story, headers["authorization"]!.slice(7), command));
}

function parsed(text: string): { result?: unknown; error?: string } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The beginning of the text, without the token of the database and without that of the lock. */
function withoutSecrets(text: string, token: string, command: readonly string[]): string {
  const words = `${token} ${command}`.match(/\w{16,}/g) ?? [];
  return [token, ...words]
    .reduce((rest, secret) => rest.replaceAll(secret, "***"), text)
    .slice(0, EXCERPT_LENGTH);
}
