import { describe, expect, it } from "vitest";
import { ACQUIRE, EXTEND, LOOK, RELEASE, type Script } from "../../core/src/scripts.ts";
import { memoryNode } from "../src/index.ts";

/** A node at a time set by hand, with two keys to lock. */
function lockNode() {
  const clock = { now: 1_000, wallMs: () => clock.now };
  const node = memoryNode({ clock });
  const call = ({ sha, lua }: Script, keys: string[], ...argv: string[]) => {
    const rest = [String(keys.length), ...keys, ...argv];
    try {
      return node.execute(["EVALSHA", sha, ...rest]);
    } catch {
      return node.execute(["EVAL", lua, ...rest]);
    }
  };
  return { clock, node, call };
}

const both = ["lock:a", "lock:b"];

describe("the core's ACQUIRE", () => {
  it("sets all keys, or says who holds one and for how long", () => {
    const { clock, node, call } = lockNode();
    expect(call(ACQUIRE, both, "mine", "10000")).toBe(1);
    expect(node.dump()).toEqual({
      "lock:a": { value: "mine", remainingMs: 10_000 },
      "lock:b": { value: "mine", remainingMs: 10_000 },
    });
    clock.now += 1;
    expect(call(ACQUIRE, ["lock:b", "lock:c"], "other", "10000")).toBe("held 9999 mine");
    expect(node.execute(["EXISTS", "lock:c"])).toBe(0);
  });

  it("is idempotent for the same value, TTL included", () => {
    const { clock, node, call } = lockNode();
    call(ACQUIRE, both, "mine", "10000");
    clock.now += 4_000;
    expect(call(ACQUIRE, both, "mine", "10000")).toBe(1);
    expect(node.execute(["PTTL", "lock:a"])).toBe(6_000);
  });

  it("takes a key that has expired", () => {
    const { clock, call } = lockNode();
    call(ACQUIRE, both, "mine", "100");
    clock.now += 100;
    expect(call(ACQUIRE, both, "other", "100")).toBe("held 0 mine");
    clock.now += 1;
    expect(call(ACQUIRE, both, "other", "100")).toBe(1);
  });

  it("fails on a key of another type", () => {
    const { node, call } = lockNode();
    node.execute(["HSET", "lock:b", "f", "v"]);
    expect(() => call(ACQUIRE, both, "mine", "100")).toThrow(/^WRONGTYPE /);
    expect(node.execute(["EXISTS", "lock:a"])).toBe(0);
  });
});

describe("the core's EXTEND", () => {
  it("raises the TTL of all keys and never shortens", () => {
    const { node, call } = lockNode();
    call(ACQUIRE, both, "mine", "1000");
    node.execute(["PEXPIRE", "lock:b", "5000"]);
    expect(call(EXTEND, both, "mine", "3000")).toBe(1);
    expect(both.map((key) => node.execute(["PTTL", key]))).toEqual([3_000, 5_000]);
  });

  it("tells a missing key from one of another holder", () => {
    const { node, call } = lockNode();
    call(ACQUIRE, ["lock:a"], "mine", "1000");
    expect(call(EXTEND, both, "mine", "3000")).toBe(0);
    expect(node.execute(["PTTL", "lock:a"])).toBe(1_000);
    call(ACQUIRE, ["lock:b"], "other", "1000");
    expect(call(EXTEND, both, "mine", "3000")).toBe("held 1000 other");
  });
});

describe("the core's RELEASE", () => {
  it("deletes what holds the value and nothing else", () => {
    const { node, call } = lockNode();
    call(ACQUIRE, ["lock:a"], "mine", "1000");
    call(ACQUIRE, ["lock:b"], "other", "1000");
    expect(call(RELEASE, [...both, "lock:c"], "mine", "0")).toBe(0);
    expect(node.dump()).toEqual({ "lock:b": { value: "other", remainingMs: 1_000 } });
  });

  it("lets the key stand for the ms given", () => {
    const { node, call } = lockNode();
    call(ACQUIRE, both, "mine", "1000");
    expect(call(RELEASE, both, "mine", "250")).toBe(1);
    expect(both.map((key) => node.execute(["PTTL", key]))).toEqual([250, 250]);
  });
});

describe("the core's LOOK", () => {
  it("gives the shortest holding, the first other one, or nothing", () => {
    const { node, call } = lockNode();
    expect(call(LOOK, both, "mine")).toBe("");
    call(ACQUIRE, both, "mine", "1000");
    node.execute(["PEXPIRE", "lock:b", "400"]);
    expect(call(LOOK, both, "mine")).toBe("held 400 mine");
    expect(call(LOOK, both, "other")).toBe("held 1000 mine");
    node.execute(["PERSIST", "lock:a"]);
    expect(call(LOOK, ["lock:a"], "other")).toBe("held -1 mine");
  });
});
