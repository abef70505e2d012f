import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ask, textOf } from "../src/node-command.ts";
import { LOOK } from "../src/scripts.ts";
import { keyValueOf, voteOf } from "../src/vote.ts";
import { check, checkAsync } from "./seed.ts";

const MINE = "0123456789abcdef";
const token = fc.stringMatching(/^[0-9a-f]{32}$/);
/** With ":", line breaks, digits and all of Unicode, half surrogates aside: no node could keep those. */
const owner = fc.oneof(
  fc.string({ minLength: 1, unit: "grapheme" }),
  fc.string({
    minLength: 1,
    unit: fc.constantFrom(":", "\n", "\r", " ", "1", "-", "ü", "☃", "\0"),
  }),
);
const label = fc.option(owner, { nil: undefined });
const remaining = fc.oneof(fc.integer({ min: 0, max: 1e9 }), fc.maxSafeNat());

/** Nearly a reply: what a grant is made of, in other arrangements. */
const nearly = fc
  .array(fc.constantFrom("held ", "1", "0", "-", " ", MINE, ":", "OK", "e", "+", ".", "\n", "x"), {
    maxLength: 6,
  })
  .map((pieces) => pieces.join(""));
const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), nearly);

/** The only two forms of a grant. */
const isGrant = (reply: string): boolean =>
  reply === "1" || new RegExp(`^held -?\\d[\\d.e+]* ${MINE}$`).test(reply);

describe("a reply in words", () => {
  it("is a vote of that node or an Error, and a grant only in the form of one", () => {
    let votes = 0;
    check(
      fc.property(text, (reply) => {
        try {
          const vote = voteOf("redis-a", reply, MINE);
          votes++;
          expect(vote.node).toBe("redis-a");
          expect(vote.outcome).toBe(isGrant(reply) ? "granted" : "denied");
        } catch (error) {
          if (!/^unexpected reply /.test((error as Error).message)) throw error;
          expect(isGrant(reply)).toBe(false);
        }
      }),
      5_000,
    );
    expect(votes).toBeGreaterThan(50);
  });

  it("that shows a holding gives back its token, label and time", () => {
    check(
      fc.property(token, label, remaining, (held, by, leftMs) => {
        expect(voteOf("redis-a", `held ${leftMs} ${keyValueOf(held, by)}`, MINE)).toEqual({
          node: "redis-a",
          outcome: "denied",
          token: held,
          ...(by !== undefined && { owner: by }),
          remainingMs: leftMs,
        });
      }),
    );
  });

  it("that shows a holding is a grant to its holder, and to nobody else", () => {
    check(
      fc.property(token, label, token, label, remaining, (mine, by, other, byOther, leftMs) => {
        const value = keyValueOf(mine, by);
        const reply = `held ${leftMs} ${value}`;
        const granted = { node: "redis-a", outcome: "granted", remainingMs: leftMs };
        expect(voteOf("redis-a", reply, value)).toEqual(granted);
        const theirs = keyValueOf(other, byOther);
        fc.pre(theirs !== value);
        expect(voteOf("redis-a", reply, theirs).outcome).toBe("denied");
      }),
    );
  });
});

describe("a reply as drivers give it", () => {
  it("is the same text as string, as bytes, and as a number where it is one", () => {
    const bytesOf = (reply: string) => new TextEncoder().encode(reply);
    check(
      fc.property(fc.string({ unit: "grapheme" }), fc.maxSafeInteger(), (words, number) => {
        // A decoder takes a byte order mark away; no script sends one.
        fc.pre(!words.startsWith("\ufeff"));
        expect(textOf(words)).toBe(words);
        expect(textOf(bytesOf(words))).toBe(words);
        for (const reply of [number, BigInt(number), bytesOf(String(number))]) {
          expect(textOf(reply)).toBe(String(number));
        }
      }),
    );
  });

  it("is a vote whatever it is, and a grant only in the form of one", async () => {
    const values = fc.oneof(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withTypedArray: true,
        withNullPrototype: true,
      }),
      text,
      text.map((words) => new TextEncoder().encode(words)),
      fc.integer(),
      fc.bigInt(),
      fc.constantFrom(
        1,
        1n,
        "1",
        true,
        [1],
        ["1"],
        { result: 1 },
        new Error("1"),
        null,
        undefined,
        "OK",
      ),
    );
    await checkAsync(
      fc.asyncProperty(values, async (reply) => {
        const vote = await asked(() => Promise.resolve(reply));
        const granted =
          ["string", "number", "bigint"].includes(typeof reply) || reply instanceof Uint8Array
            ? isGrant(textOf(reply))
            : false;
        expect(vote.outcome === "granted").toBe(granted);
        if (vote.outcome === "failed") expect(vote.cause).toBeInstanceOf(Error);
      }),
    );
  });

  it("is a failed vote with a cause whatever is thrown or rejected with", async () => {
    await checkAsync(
      fc.asyncProperty(
        fc.anything({ withNullPrototype: true }),
        fc.boolean(),
        async (error, late) => {
          const vote = await asked(() => {
            if (late) return Promise.reject(error);
            throw error;
          });
          expect(vote).toEqual({ node: "redis-a", outcome: "failed", cause: expect.any(Error) });
        },
      ),
    );
  });
});

const asked = (send: () => Promise<unknown>) =>
  ask({ name: "redis-a", send }, LOOK, ["1", "k", MINE, "0"], MINE, {
    key: "k",
    signal: new AbortController().signal,
  });
