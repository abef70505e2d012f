import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

it.each([
  ["setImmediate", []],
  ["a MessageChannel", ["setImmediate"]],
  ["a timer", ["setImmediate", "MessageChannel"]],
])("settles a long chain of promises with %s", async (_, missing) => {
  for (const name of missing) vi.stubGlobal(name, undefined);
  vi.resetModules();
  const { settle } = await import("../src/settle.ts");
  let ticks = 0;
  const chain = async () => {
    while (ticks < 5_000) {
      await null;
      ticks += 1;
    }
  };
  void chain();
  await settle();
  expect(ticks).toBe(5_000);
});
