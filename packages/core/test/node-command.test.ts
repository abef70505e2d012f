import { describe, expect, it } from "vitest";
import { textOf } from "../src/node-command.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a driver's reply", () => {
  it.each([
    ["a number", 1, "1"],
    ["a bigint", 1n, "1"],
    ["text", "1", "1"],
    ["bytes", bytes("1"), "1"],
    ["bytes of a holding", bytes("held 1500 tökén:öwner"), "held 1500 tökén:öwner"],
    ["empty text", "", ""],
    ["no bytes", bytes(""), ""],
  ])("may be %s", (_, reply, expected) => {
    expect(textOf(reply)).toBe(expected);
  });

  it.each([
    ["null", null],
    ["undefined", undefined],
    ["true", true],
    ["false", false],
    ["an array", [1]],
    ["an empty array", []],
    ["an object", { result: 1 }],
    ["a function", () => 1],
    ["a symbol", Symbol("1")],
    ["an Error", new Error("ERR")],
    ["a boxed number", Object(1)],
    ["a thenable's content", { toString: () => "1" }],
  ])("may not be %s", (_, reply) => {
    expect(() => textOf(reply)).toThrow(/unexpected reply/);
  });
});
