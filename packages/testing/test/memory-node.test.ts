import { describe, expect, it, vi } from "vitest";
import { memoryNode } from "../src/index.ts";

const refused = expect.objectContaining({ code: "ECONNREFUSED" });

describe("a memory node", () => {
  it("has a name of its own, or the one given", () => {
    expect(memoryNode().name).toMatch(/^memory-\d+$/);
    expect(memoryNode().name).not.toBe(memoryNode().name);
    expect(memoryNode({ name: "redis-a" }).name).toBe("redis-a");
    expect(() => memoryNode({ name: "" })).toThrow(TypeError);
  });

  it("executes when it is sent a command and answers in a microtask, also under fake timers", async () => {
    vi.useFakeTimers();
    try {
      const node = memoryNode();
      const answer = node.send(["SET", "k", "v", "PX", "100"]);
      expect(node.dump()).toEqual({ k: { value: "v", remainingMs: 100 } });
      expect(await answer).toBe("OK");
      vi.advanceTimersByTime(101);
      expect(await node.send(["GET", "k"])).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  it("rejects with Redis' error", async () => {
    const answer = memoryNode().send(["GET"]);
    await expect(answer).rejects.toThrow("ERR wrong number of arguments for 'get' command");
  });

  it("shares nothing with another node", () => {
    const [a, b] = [memoryNode(), memoryNode()];
    a.execute(["SET", "k", "v"]);
    const sha = a.execute(["SCRIPT", "LOAD", "return 1"]) as string;
    expect(b.dump()).toEqual({});
    expect(() => b.execute(["EVALSHA", sha, "0"])).toThrow("NOSCRIPT");
  });
});

describe("hang", () => {
  it("holds commands back until resume, which executes them in order", async () => {
    const node = memoryNode();
    node.hang();
    const answered = vi.fn();
    const answers = [
      node.send(["SET", "k", "1", "NX"]),
      node.send(["SET", "k", "2", "NX"]),
      node.send(["GET", "k"]),
    ];
    for (const answer of answers) answer.then(answered);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(answered).not.toHaveBeenCalled();
    expect(node.dump()).toEqual({});
    expect(() => node.execute(["PING"])).toThrow("hangs");
    node.resume();
    expect(await Promise.all(answers)).toEqual(["OK", null, "1"]);
    expect(await node.send(["PING"])).toBe("PONG");
  });

  it("lets keys expire meanwhile", async () => {
    const clock = { now: 0, wallMs: () => clock.now };
    const node = memoryNode({ clock });
    node.execute(["SET", "k", "v", "PX", "100"]);
    node.hang();
    clock.now = 101;
    expect(node.dump()).toEqual({});
    const late = node.send(["SET", "k", "late", "PX", "100"]);
    clock.now = 500;
    node.resume();
    await late;
    expect(node.dump()).toEqual({ k: { value: "late", remainingMs: 100 } });
  });

  it("loses the commands held back when the node is killed", async () => {
    const node = memoryNode();
    node.hang();
    const answer = node.send(["SET", "k", "v"]);
    node.kill();
    await expect(answer).rejects.toMatchObject({ code: "ECONNRESET" });
    node.resume();
    await expect(node.send(["PING"])).rejects.toEqual(refused);
    node.restart({ persistence: "all" });
    expect(node.dump()).toEqual({});
  });
});

describe("kill and restart", () => {
  it("refuses commands until restart", async () => {
    const node = memoryNode({ name: "redis-a" });
    node.kill();
    await expect(node.send(["PING"])).rejects.toThrow("connect ECONNREFUSED redis-a");
    await expect(node.subscribe("c", () => {})).rejects.toEqual(refused);
    expect(() => node.execute(["PING"])).toThrow(refused);
    node.hang();
    expect(node.state).toBe("down");
    node.restart();
    expect(await node.send(["PING"])).toBe("PONG");
  });

  it("loses or keeps the keys as asked, and always the script cache", () => {
    const node = memoryNode();
    node.execute(["SET", "k", "v"]);
    const sha = node.execute(["SCRIPT", "LOAD", "return 1"]) as string;
    node.restart({ persistence: "all" });
    expect(node.execute(["GET", "k"])).toBe("v");
    expect(() => node.execute(["EVALSHA", sha, "0"])).toThrow("NOSCRIPT");
    node.restart({ persistence: "none" });
    expect(node.dump()).toEqual({});
  });

  it("goes back to a snapshot, for a crash that loses the last second", () => {
    const clock = { now: 0, wallMs: () => clock.now };
    const node = memoryNode({ clock });
    node.execute(["SET", "a", "1", "PX", "1000"]);
    node.execute(["HSET", "h", "f", "1"]);
    node.execute(["ZADD", "z", "1", "m"]);
    const snapshot = node.snapshot();
    node.execute(["SET", "b", "2"]);
    node.execute(["HSET", "h", "f", "2"]);
    node.execute(["ZADD", "z", "2", "m"]);
    node.execute(["PERSIST", "a"]);
    clock.now = 400;
    for (let time = 0; time < 2; time++) {
      node.restoreSnapshot(snapshot);
      expect(node.dump()).toEqual({
        a: { value: "1", remainingMs: 600 },
        h: { value: { f: "1" }, remainingMs: null },
        z: { value: [["m", 1]], remainingMs: null },
      });
      node.execute(["HSET", "h", "f", "3"]);
    }
  });

  it("flushes keys or scripts alone", () => {
    const node = memoryNode();
    node.execute(["SET", "k", "v"]);
    const sha = node.execute(["SCRIPT", "LOAD", "return 1"]) as string;
    node.flush();
    expect(node.dump()).toEqual({});
    expect(node.execute(["EVALSHA", sha, "0"])).toBe(1);
    node.flushScripts();
    expect(() => node.execute(["EVALSHA", sha, "0"])).toThrow("NOSCRIPT");
  });
});

describe("subscribe", () => {
  it("hears messages after the command that published, until it is ended", async () => {
    const node = memoryNode();
    const heard: string[] = [];
    const end = await node.subscribe("c", (message) => heard.push(message));
    expect(node.execute(["PUBLISH", "c", "grüße"])).toBe(1);
    expect(node.execute(["EVAL", "return redis.call('PUBLISH', 'c', 'two')", "0"])).toBe(1);
    expect(node.execute(["PUBLISH", "other", "no"])).toBe(0);
    expect(heard).toEqual([]);
    await Promise.resolve();
    expect(heard).toEqual(["grüße", "two"]);
    node.execute(["PUBLISH", "c", "on its way"]);
    await end();
    expect(node.execute(["PUBLISH", "c", "late"])).toBe(0);
    await Promise.resolve();
    expect(heard).toEqual(["grüße", "two"]);
    expect(node.subscriptions).toBe(0);
  });

  it("counts one listener twice when it subscribed twice", async () => {
    const node = memoryNode();
    const listener = vi.fn();
    const end = await node.subscribe("c", listener);
    await node.subscribe("c", listener);
    expect(node.execute(["PUBLISH", "c", "m"])).toBe(2);
    await end();
    await end();
    expect(node.execute(["PUBLISH", "c", "m"])).toBe(1);
  });
});
