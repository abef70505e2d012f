import type { Mutation } from "../mutation.ts";

/** What makes waiting fair and short. */
export const WAITING: readonly Mutation[] = [
  {
    name: "short waits only behind one holder",
    rule: "The wait is cut to a TTL only where one holder denies at a quorum.",
    place: "Waiting (b)",
    file: "acquire.ts",
    anchor: "holder.nodes < quorumOf(nodes.length) || holder.remainingMs === undefined",
    replacement: "holder.remainingMs === undefined",
  },
  {
    name: "TTL-sleep only on q equal denials",
    rule: "After a split vote nobody sleeps for the TTL of one of the losers.",
    place: "Waiting (b)",
    file: "acquire.ts",
    anchor:
      "if (holder.nodes < quorumOf(nodes.length) || holder.remainingMs === undefined) return delayMs;",
    replacement: `if (holder.remainingMs === undefined) return delayMs;
  if (holder.nodes < quorumOf(nodes.length)) return Math.max(delayMs, holder.remainingMs + 1);`,
  },
  {
    name: "waking when the holder's keys expire",
    rule: "Behind one holder the wait ends when its keys expire.",
    place: "Waiting (b)",
    file: "acquire.ts",
    anchor: "return Math.min(delayMs, holder.remainingMs + 1);",
    replacement: "return delayMs;",
  },
  {
    name: "waits longer than a round",
    rule: "The wait is considerably longer than a majority takes to answer.",
    place: "Acquire 5",
    file: "backoff.ts",
    anchor: "Math.max(retryDelayMs, 2 * roundMs)",
    replacement: "retryDelayMs",
  },
  {
    name: "the limit of backoff",
    rule: "The wait doubles up to ten times its base.",
    place: "Acquire 5",
    file: "backoff.ts",
    anchor: "Math.min(2 ** attempts, MAX_GROWTH)",
    replacement: "2 ** attempts",
  },
  {
    name: "waitMs",
    rule: "Waiting ends after waitMs.",
    place: "Acquire 7",
    file: "acquire.ts",
    anchor: "Math.min(leftMs, retryDelayMs(context, settings, result, attempts - 1))",
    replacement: "retryDelayMs(context, settings, result, attempts - 1)",
  },
  {
    name: "the end of waiting at close",
    rule: "Waiting ends by close().",
    place: "Acquire 7",
    file: "redlock.ts",
    anchor: "for (const waiting of waitings) waiting.stop(new RedlockClosedError());",
    replacement: "",
  },
  {
    name: "the in-process queue",
    rule: "In one process only the first in line competes on Redis.",
    place: "Waiting: in-process queue",
    file: "acquire.ts",
    anchor: "if (!ahead) return;",
    replacement: "return;",
  },
  {
    name: "the in-process hand-over",
    rule: "Whoever is next in line gets its turn when the one before ends.",
    place: "Waiting: in-process queue",
    file: "local-queue.ts",
    anchor: "next.onTurn();",
    replacement: "",
  },
  {
    name: "first in, first out",
    rule: "Waiters of one process get their turn in the order in which they came.",
    place: "Waiting: in-process queue",
    file: "local-queue.ts",
    anchor: `const [next] = this.#lines.get(resource) ?? [];`,
    replacement: "const next = [...(this.#lines.get(resource) ?? [])].at(-1);",
  },
];
