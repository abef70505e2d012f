import { describe, expect, it } from "vitest";
import { memoryNode } from "../src/index.ts";

const evaluate = (lua: string, ...argv: string[]) =>
  memoryNode().execute(["EVAL", lua, "0", ...argv]);

describe("a script", () => {
  it.each([
    ["local n = 0 while true do n = n + 1 if n == 5 then break end end return n", 5],
    ["local n = 0 repeat local done = n >= 3 n = n + 1 until done return n", 4],
    ["local s = '' for i = 10, 1, -3 do s = s .. i .. ' ' end return s", "10 7 4 1 "],
    ["for _, v in ipairs({5, 6, 7}) do if v == 6 then return v end end", 6],
    [
      "for i = 1, 3 do for j = 1, 3 do if j == 2 then break end if i == 3 then return j end end end",
      1,
    ],
    ["local x = 1 do local x = 2 end return x", 1],
    ["local x = 1 local x = x + 1 return x", 2],
    ["local a, b = 1, 2 a, b = b, a return {a, b}", [2, 1]],
    ["local function f() return 1, 2, 3 end local a, b, c, d = f() return {a, b, c, d}", [1, 2, 3]],
    ["local function f() return 1, 2 end return {(f()), f()}", [1, 1, 2]],
    [
      "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(15)",
      610,
    ],
    ["local t = {} t.a = {b = {1, 2}} t.a.b[3] = 9 return #t.a.b + t.a.b[3]", 12],
    ["local t = {} function t.double(n) return n * 2 end return t.double(4)", 8],
    ["local t = {n = 3} function t.get(self) return self.n end return t:get()", 3],
    ["local t = {1, 2, 3} t[3] = nil t[2] = nil return #t", 1],
    ["local t = {[3] = 'c'} t[1] = 'a' t[2] = 'b' return t", ["a", "b", "c"]],
    ["if nil then return 1 elseif false then return 2 else return 3 end", 3],
    ["return 0 and ''", ""],
    ["return false or nil or 'last'", "last"],
    ["return 2 ^ 3 ^ 2", 512],
    ["return -2 ^ 2", -4],
    ["return 'a' .. 1 + 2 .. 'b'", "a3b"],
    ["return not 1 == 2", null],
    ["local call = redis.call call('SET', 'k', 'v') return call('GET', 'k')", "v"],
    ["local r = redis return r.call('PING')", "PONG"],
    ["return redis.call 'PING'", "PONG"],
    ["local f = function(t) return t[1] end return f {7}", 7],
    ["return #'\\255\\0x'", 3],
    ["local s = 0 for k, v in pairs({a = 1, b = 2, 4}) do s = s + v end return s", 7],
    [
      "local t = {a = 1, b = 2, c = 3} for k in pairs(t) do t[k] = nil end for _ in pairs(t) do return 1 end return 0",
      0,
    ],
    ["return table.concat({'a', 1, 2.5}, '-', 2)", "1-2.5"],
    ["local t = {1, 2, 3} table.remove(t, 1) return t", [2, 3]],
  ])("%s", (lua, reply) => {
    expect(evaluate(lua)).toEqual(reply);
  });

  it("gives each turn of a loop variables of its own, shared by the functions that use them", () => {
    const lua = `
      local counters = {}
      for i = 1, 3 do
        local n = i * 10
        counters[i] = { up = function() n = n + 1 return n end, read = function() return n end }
      end
      counters[1].up() counters[1].up() counters[3].up()
      return { counters[1].read(), counters[2].read(), counters[3].read() }`;
    expect(evaluate(lua)).toEqual([12, 20, 31]);
  });

  it("reaches variables two functions out", () => {
    const lua = `
      local n = 1
      local function outer(m)
        return function() n = n + m return n end
      end
      local up = outer(5)
      up() up()
      return n`;
    expect(evaluate(lua)).toBe(11);
  });

  it("starts each run, and each call, with fresh variables", () => {
    const node = memoryNode();
    const lua =
      "local n local function f() local m m = (m or 0) + 1 return m end n = (n or 0) + f() return n";
    expect([1, 2, 3].map(() => node.execute(["EVAL", lua, "0"]))).toEqual([1, 1, 1]);
  });

  it("names the line of an error", () => {
    expect(() => evaluate("local x\n\nreturn x.y")).toThrow(
      /^ERR user_script:3: attempt to index local 'x' \(a nil value\) script: [\da-f]{40}, on @user_script:3\.$/,
    );
    expect(() => evaluate("local x = 1\nredis.call('GET')")).toThrow(/on @user_script:2\.$/);
    expect(() => evaluate("local x = 1\nlocal = 2")).toThrow(
      /Error compiling script .*user_script:2:/,
    );
  });

  it("keeps what it wrote before an error, as Redis does", () => {
    const node = memoryNode();
    const lua = "redis.call('SET', 'k', 'v') redis.call('HGET', 'k', 'f')";
    expect(() => node.execute(["EVAL", lua, "0"])).toThrow(/^WRONGTYPE /);
    expect(node.execute(["GET", "k"])).toBe("v");
  });

  it("goes on after an error it has caught", () => {
    const lua = `
      redis.call('SET', 'k', 'v')
      local reply = redis.pcall('HGET', 'k', 'f')
      return { reply.err, redis.call('GET', 'k') }`;
    expect(evaluate(lua)).toEqual([
      "WRONGTYPE Operation against a key holding the wrong kind of value",
      "v",
    ]);
  });

  it("ends with an error when it recurses for ever", () => {
    expect(() => evaluate("local function f() return 1 + f() end return f()")).toThrow(
      "stack overflow",
    );
  });

  it("reads the time once", () => {
    let now = 1_000;
    const node = memoryNode({ clock: { wallMs: () => now++ } });
    const lua =
      "redis.call('SET', 'k', 'v', 'PX', 1) return {redis.call('TIME')[2], redis.call('PTTL', 'k'), redis.call('TIME')[2]}";
    expect(node.execute(["EVAL", lua, "0"])).toEqual(["0", 1, "0"]);
  });
});

describe("what is not supported is named", () => {
  it.each([
    ["return ...", "varargs (...) in scripts (line 1)"],
    ["return\nfunction(...) end", "varargs (...) in scripts (line 2)"],
    ["return cjson.encode({})", "cjson"],
    ["return string.gsub('a', 'b', 'c')", "string.gsub"],
    ["return ('a'):gsub('b', 'c')", "string.gsub"],
    ["local sort = table.sort", "table.sort"],
    ["redis.setresp(3)", "redis.setresp"],
    ["return string.format('%q', 'a')", 'string.format("%q")'],
    ["for k in next, {} do end", "a for loop over anything but ipairs() or pairs()"],
    ["#!lua\nreturn 1", "a shebang (#!lua)"],
  ])("%s", (lua, construct) => {
    expect(() => evaluate(lua)).toThrow(`memoryNode does not support ${construct}`);
  });
});

describe("the script cache", () => {
  it("is filled by EVAL and SCRIPT LOAD, and finds a SHA-1 in any case", () => {
    const node = memoryNode();
    const sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
    expect(() => node.execute(["EVALSHA", sha, "0"])).toThrow(
      /^NOSCRIPT No matching script\. Please use EVAL\.$/,
    );
    node.execute(["EVAL", "return 1", "0"]);
    expect(node.execute(["EVALSHA", sha, "0"])).toBe(1);
    expect(node.execute(["EVALSHA", sha.toUpperCase(), "0"])).toBe(1);
    expect(node.execute(["SCRIPT", "EXISTS", sha.toUpperCase(), "zz"])).toEqual([1, 0]);
    expect(node.execute(["SCRIPT", "FLUSH", "SYNC"])).toBe("OK");
    expect(() => node.execute(["EVALSHA", sha, "0"])).toThrow("NOSCRIPT");
    expect(node.execute(["SCRIPT", "LOAD", "return 1"])).toBe(sha);
    expect(node.execute(["EVALSHA", sha, "0"])).toBe(1);
  });

  it("does not take a script that does not compile", () => {
    const node = memoryNode();
    expect(() => node.execute(["EVAL", "return return", "0"])).toThrow(
      "ERR Error compiling script",
    );
    expect(() => node.execute(["SCRIPT", "LOAD", "return return"])).toThrow(
      "ERR Error compiling script",
    );
  });
});
