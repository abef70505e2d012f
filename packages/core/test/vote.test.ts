import { describe, expect, it } from "vitest";
import { keyValueOf, voteOf } from "../src/vote.ts";

const read = (reply: string, value = "mine") => voteOf("redis-a", reply, value);

describe("the value of a key", () => {
  it("is the token, with the owner's label behind a colon", () => {
    expect(keyValueOf("t0k3n", undefined)).toBe("t0k3n");
    expect(keyValueOf("t0k3n", "worker-1")).toBe("t0k3n:worker-1");
    expect(keyValueOf("t0k3n", "a:b\nc d")).toBe("t0k3n:a:b\nc d");
  });
});

describe("a reply", () => {
  it("of 1 is a grant", () => {
    expect(read("1")).toEqual({ node: "redis-a", outcome: "granted" });
  });

  it("that shows our own value is a grant, with how long the key lives", () => {
    expect(read("held 1500 mine")).toEqual({
      node: "redis-a",
      outcome: "granted",
      remainingMs: 1500,
    });
    expect(read("held 1500 mine:me and you", "mine:me and you").outcome).toBe("granted");
  });

  it.each(["0", ""])("of %j is a denial of a key that is free", (reply) => {
    expect(read(reply)).toEqual({ node: "redis-a", outcome: "denied", free: true });
  });

  it("that shows another holder is a denial with its token, label and remaining time", () => {
    expect(read("held 1500 other")).toEqual({
      node: "redis-a",
      outcome: "denied",
      token: "other",
      remainingMs: 1500,
    });
    expect(read("held 1500 other:worker-1")).toMatchObject({ token: "other", owner: "worker-1" });
  });

  it.each(["a:b", "line\nbreak", " ", "two words", ":", "1 x", "ünïcode ☃"])(
    "carries the owner label %j whole",
    (owner) => {
      expect(read(`held 7 ${keyValueOf("other", owner)}`)).toMatchObject({ token: "other", owner });
    },
  );

  it("that shows a key without expiry has no remaining time", () => {
    expect(read("held -1 other")).toEqual({ node: "redis-a", outcome: "denied", token: "other" });
  });

  it("is not taken for ours because it begins like ours", () => {
    expect(read("held 5 mine:worker").outcome).toBe("denied");
    expect(read("held 5 mine", "mine:worker").outcome).toBe("denied");
  });

  it.each([
    "OK",
    "PONG",
    "QUEUED",
    "2",
    "-1",
    "-2",
    "true",
    "null",
    "undefined",
    "NaN",
    "[object Object]",
  ])("of %j is nonsense and says so", (reply) => {
    expect(() => read(reply)).toThrow(/unexpected reply/);
    expect(() => read(reply)).toThrow(reply);
  });

  it.each([
    "<html><body><h1>502 Bad Gateway</h1></body></html>",
    "<!doctype html>\n<title>Sign in</title>",
    "granted mine",
    "503 Service Unavailable",
    " mine",
    "{} mine",
    '{"result": 1}',
    "[1]",
    "1,mine",
    "one mine",
  ])("of %j is nonsense", (reply) => {
    expect(() => read(reply)).toThrow(/unexpected reply/);
  });

  it("that is a whole page is quoted only so far as to recognise it", () => {
    const page = `<html>${"x".repeat(100_000)}`;
    let message = "";
    try {
      read(page);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain("<html>");
    expect(message.length).toBeLessThan(200);
  });
});
