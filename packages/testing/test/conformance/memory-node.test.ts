import { describe, it } from "vitest";
import { conformanceCases, lockScenarios, silenceCases } from "../../src/conformance.ts";
import { type MemoryNode, memoryNode } from "../../src/index.ts";

const silenceOf = (node: MemoryNode) => async (ms: number) => {
  node.hang();
  setTimeout(() => node.resume(), ms);
};

describe("the memory node", () => {
  it.each([...conformanceCases, ...silenceCases])("$name", async ({ run }) => {
    const node = memoryNode();
    await run(node, { silence: silenceOf(node) });
  });
});

describe.each([1, 2, 3, 5])("locks over %i memory nodes", { concurrent: true }, (count) => {
  it.each(lockScenarios)("$name", async ({ run }) => {
    await run(
      Array.from({ length: count }, () => memoryNode()),
      { cycles: 200 },
    );
  });
});
