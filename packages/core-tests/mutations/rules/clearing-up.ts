import type { Mutation } from "../mutation.ts";

/** What keeps keys from staying behind, and others' keys from going. */
export const CLEARING_UP: readonly Mutation[] = [
  {
    name: "undo on failure",
    rule: "A failed attempt is released on all nodes.",
    place: "Acquire 5",
    file: "attempt.ts",
    anchor: "const release = claim.release();",
    replacement: "const release = claim.look();",
  },
  {
    name: "undo on abort",
    rule: "An attempt that the caller ends is released on all nodes.",
    place: "Acquire 5 and 7",
    file: "attempt.ts",
    anchor: "claim.release();\n    throw stopped;",
    replacement: "throw stopped;",
  },
  {
    name: "undo on nodes that did not grant",
    rule: "Undo and release go to all nodes, also those that denied, failed or have not answered.",
    place: "Acquire 5, Release",
    file: "claim.ts",
    anchor: "(_, index) => this.#release(index),",
    replacement:
      'async (node, index) => (this.#standings[index]?.set ? this.#release(index) : { node: node.name, outcome: "denied" }),',
  },
  {
    name: "a fresh token per attempt",
    rule: "Every attempt signs its keys with a token of its own.",
    place: "Acquire 5",
    file: "attempt.ts",
    anchor: "const token = settings.random.token();",
    replacement:
      "const token = ((ticket as { token?: string }).token ??= settings.random.token());",
  },
  {
    name: "the next attempt behind the undo",
    rule: "The next attempt's command to a node waits for that node's undo.",
    place: "Acquire 6",
    file: "claim.ts",
    anchor: "this.#set(index, ttlMs, args, undo)",
    replacement: "this.#set(index, ttlMs, args)",
  },
  {
    name: "the straggler's release",
    rule: "A straggler that grants after the end is released again when its answer arrives.",
    place: "Acquire 6",
    file: "claim.ts",
    anchor: "if (this.#over) this.#releaseStraggler(index, ttlMs);",
    replacement: "",
  },
  {
    name: "releasing again after an unknown outcome",
    rule: "Where no answer comes, the release is repeated until the keys are gone by themselves.",
    place: "Acquire 6",
    file: "claim.ts",
    anchor: "if (pursued || !(unsure || set)) return;",
    replacement: "if (pursued || unsure || set) return;",
  },
  {
    name: "releasing again for as long as extended keys live",
    rule: "The release is repeated until the TTL of the last extension has passed, too.",
    place: "Acquire 6",
    file: "claim.ts",
    anchor: `extend(ttlMs: number, leftMs: number): Round {
    this.#liveFor(ttlMs);`,
    replacement: "extend(ttlMs: number, leftMs: number): Round {",
  },
  {
    name: "the compare in compare-and-delete",
    rule: "A release deletes a key only if it holds the token.",
    place: "Release",
    file: "scripts.ts",
    anchor: "if redis.call('GET', key) == ARGV[1] then",
    replacement: "if redis.call('GET', key) then",
  },
  {
    name: "the release behind an extension in flight",
    rule: "A release is ordered after an extension of the same lease still in flight on that node.",
    place: "Release",
    file: "claim.ts",
    anchor: "if (this.#extension) await this.#extension.voted(index);",
    replacement: "",
  },
  {
    name: "minHoldMs",
    rule: "A release before minHoldMs lets the keys stand for the rest.",
    place: "Release",
    file: "hold.ts",
    anchor: "Math.max(0, this.settings.minHoldMs - Math.max(0, heldMs))",
    replacement: "0",
  },
  {
    name: "the release of a lost lease",
    rule: "Loss or expiry undoes the keys on all nodes, repaired ones too.",
    place: "Extend: repair",
    file: "hold.ts",
    anchor: "this.grant.claim.release();",
    replacement: "",
  },
];
