import type { Mutation } from "../mutation.ts";

/** What makes one attempt safe. */
export const ACQUIRING: readonly Mutation[] = [
  {
    name: "the validity check",
    rule: "A won round gives a lease only while some validity is left.",
    place: "Acquire 4",
    violates: ["validity"],
    file: "attempt.ts",
    anchor: "if (won && remainingMs(deadline, now) > 0) {",
    replacement: "if (won) {",
  },
  {
    name: "drift",
    rule: "The deadline is earlier than the TTL by what clocks may drift apart.",
    place: "Acquire 4, Terms: validity",
    violates: ["backing", "exclusion"],
    file: "validity.ts",
    anchor: "Math.ceil(ttlMs * driftFactor) + 2",
    replacement: "0",
  },
  {
    name: "the clock read before the first byte",
    rule: "The deadline counts from before the first command was sent.",
    place: "Acquire 1",
    violates: ["backing", "exclusion"],
    file: "attempt.ts",
    anchor: "deadlineOf(from, settings.ttlMs, settings.driftFactor)",
    replacement: "deadlineOf(now, settings.ttlMs, settings.driftFactor)",
  },
  {
    name: "set if absent",
    rule: "A node grants only where no key has another holder.",
    place: "Acquire 2",
    violates: ["backing", "exclusion"],
    file: "scripts.ts",
    anchor: `lua: \`\${READ}if other then return other end
for _, key in ipairs(KEYS) do
  redis.call('SET'`,
    replacement: `lua: \`for _, key in ipairs(KEYS) do
  redis.call('SET'`,
  },
  {
    name: "idempotency per token",
    rule: "A repeated command is granted again where the key holds its token.",
    place: "Acquire 2",
    violates: ["agreement"],
    file: "scripts.ts",
    anchor: `lua: \`\${READ}if other then return other end
for _, key in ipairs(KEYS) do
  redis.call('SET'`,
    replacement: `lua: \`\${READ}if other then return other end
if mine > 0 then return 0 end
for _, key in ipairs(KEYS) do
  redis.call('SET'`,
  },
  {
    name: "a repeat that leaves the TTL alone",
    rule: "A repeated command does not touch the TTL of a key that holds its token.",
    place: "Acquire 2",
    violates: ["agreement", "backing", "exclusion"],
    file: "scripts.ts",
    anchor: "redis.call('SET', key, ARGV[1], 'PX', ARGV[2], 'NX')",
    replacement: "redis.call('SET', key, ARGV[1], 'PX', ARGV[2])",
  },
  {
    name: "the time limit of a vote",
    rule: "A node that does not answer within its time limit has failed.",
    place: "Acquire 2",
    violates: ["bound"],
    file: "round.ts",
    anchor: "this.#quorum.clock.after(limitMs, expire)",
    replacement: "this.#quorum.clock.after(Infinity, expire)",
  },
  {
    name: "the quorum from configured N",
    rule: "A quorum is a majority of the configured nodes, not of those that answer.",
    place: "Terms: N, quorum q",
    violates: ["backing", "exclusion"],
    file: "tally.ts",
    anchor: `export function verdictOf(tally: Tally): "won" | "lost" | undefined {
  const quorum = quorumOf(tally.nodes);`,
    replacement: `export function verdictOf(tally: Tally): "won" | "lost" | undefined {
  const quorum = quorumOf(tally.nodes - tally.failed);`,
  },
  {
    name: "the tie rule",
    rule: "Half of an even number of nodes is no quorum.",
    place: "Terms: verdict",
    violates: ["backing", "exclusion"],
    file: "tally.ts",
    anchor: "Math.floor(nodes / 2) + 1",
    replacement: "Math.ceil(nodes / 2)",
  },
  {
    name: "a loss by tie at once",
    rule: "An attempt is lost as soon as the grants can no longer reach a quorum, also by a tie.",
    place: "Acquire 3, Terms: verdict",
    violates: ["decision"],
    file: "tally.ts",
    anchor: 'if (tally.granted + pendingOf(tally) < quorum) return "lost";',
    replacement: 'if (pendingOf(tally) === 0) return "lost";',
  },
  {
    name: "the early decision",
    rule: "A round is won with a quorum of grants, without waiting for stragglers.",
    place: "Acquire 3",
    violates: ["decision"],
    file: "tally.ts",
    anchor: 'if (tally.granted >= quorum) return "won";',
    replacement: 'if (tally.granted >= quorum && pendingOf(tally) === 0) return "won";',
  },
  {
    name: "error classes by what is known, not by reply order",
    rule: "Held or unreachable is decided by the votes that come within the time limit, in any order.",
    place: "Acquire 8",
    violates: ["agreement"],
    file: "attempt.ts",
    anchor: "const why = await waiting.guard(round.until(lossOf));",
    replacement:
      'const why = round.votes.at(-1)?.outcome === "failed" ? "unreachable" : ("held" as const);',
  },
  {
    name: "the cause where answers were too slow",
    rule: "Enough grants without validity are QUORUM_UNREACHABLE with that cause.",
    place: "Acquire 8",
    violates: ["agreement"],
    file: "attempt.ts",
    anchor: 'return lossBy("unreachable", round, undo, roundMs, new Error(took));',
    replacement: 'return lossBy("held", round, undo, roundMs, new Error(took));',
  },
  {
    name: "asking on behind a lost round",
    rule: "Nodes that waited for an undo and were not asked in time do not count as failed.",
    place: "Acquire 8",
    violates: ["agreement"],
    file: "claim.ts",
    anchor: "return ask(node, LOOK, args, this.#value, this.#expired);",
    replacement: 'return Promise.resolve(failed(node.name, new Error("not asked")));',
  },
  {
    name: "asking suspected nodes where the others are not enough",
    rule: "Nodes that were left out as suspected are asked where the others' answers do not decide.",
    place: "Suspected nodes",
    violates: ["agreement"],
    file: "tally.ts",
    anchor: "return pendingOf(tally) > leftOut ? undefined : true;",
    replacement: "return pendingOf(tally) > leftOut ? undefined : false;",
  },
  {
    name: "null only where the resource is held",
    rule: "tryAcquire gives null where the resource is held, and throws where nobody knows.",
    place: "Acquire 8",
    violates: ["agreement"],
    file: "redlock.ts",
    anchor: "if (error instanceof ResourceHeldError) return error;",
    replacement: "if (error instanceof Error) return new ResourceHeldError([]);",
  },
  {
    name: "the event of a node that fails",
    rule: "Errors from a minority never fail an acquisition; they are reported as events.",
    place: "Acquire: errors from a minority",
    violates: ["agreement"],
    file: "quorum.ts",
    anchor: 'this.events.emit("nodeFailed", { node, cause: vote.cause });',
    replacement: "",
  },
];
