import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { toByteString } from "../src/bytes.ts";
import { sha1Hex } from "../src/sha1.ts";

it("equals node:crypto for every length around the block borders", () => {
  for (let length = 0; length < 200; length++) {
    const text = "The quick brown fox".repeat(12).slice(0, length);
    expect(sha1Hex(text)).toBe(createHash("sha1").update(text).digest("hex"));
  }
});

it("hashes the UTF-8 bytes of text", () => {
  const text = "größe 😀".repeat(20);
  expect(sha1Hex(toByteString(text))).toBe(createHash("sha1").update(text).digest("hex"));
});
