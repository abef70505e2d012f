import { describe, expect, it } from "vitest";
import { type Compilation, compile, hover } from "../src/compile.ts";
import { runProgram } from "../src/run-program.ts";
import { bun, deno, node, thisNode } from "../src/runtimes.ts";

describe.each([thisNode, node(22), node(24), node(26), deno, bun])("$name", (runtime) => {
  it.skipIf(!runtime.program)("imports and requires the packages, side by side", async () => {
    const said = JSON.parse(await runProgram(runtime, "modules/import.mjs"));
    expect(said.required).toEqual(said.imported);
    expect(Object.values(said.imported)).not.toContainEqual([]);
    expect(said.own).toEqual(Array(2).fill({ known: true, same: true }));
    // Two copies of the core, and still each knows the other's errors.
    expect(said.crossed).toEqual(Array(2).fill({ known: true, same: false }));
  });
});

const ways: Pick<Compilation, "resolution" | "extension">[] = [
  { resolution: "node16", extension: "mts" },
  { resolution: "node16", extension: "cts" },
  { resolution: "nodenext", extension: "mts" },
  { resolution: "nodenext", extension: "cts" },
  { resolution: "bundler", extension: "ts" },
];

describe("a TypeScript program", () => {
  it.each(ways)("uses the core, .$extension, $resolution, with DOM types only", (way) => {
    const how = { ...way, lib: ["es2022", "dom"], types: [], checkDeclarations: true };
    const { faults, program } = compile("core", how);
    expect(faults).toEqual([]);
    expect(hover(program, "Redlock")).toEqual({
      type: "typeof Redlock",
      documentation: expect.stringContaining("Locks over a quorum of independent Redis nodes"),
    });
    expect(hover(program, "defineNode").documentation).toContain(
      "one function that sends a command",
    );
  });

  it("uses the core with a worker's types only", () => {
    const how = { ...ways[4]!, lib: ["es2022", "webworker"], types: [], checkDeclarations: true };
    expect(compile("core", how).faults).toEqual([]);
  });

  it.each(ways)("uses all packages, .$extension, $resolution", (way) => {
    const how = { ...way, lib: ["es2022", "dom"], types: ["node"], checkDeclarations: false };
    const { faults, program } = compile("adapters", how);
    expect(faults).toEqual([]);
    expect(hover(program, "ioredisNode").documentation).toContain("Makes a voting node");
  });
});

describe.skipIf(!deno.program)("deno check", () => {
  const check = { ...deno, args: ["check", "--quiet", "--no-config", "--node-modules-dir=manual"] };

  it.each(["core", "adapters"])("accepts a program that uses: %s", async (name) => {
    await runProgram(check, `modules/${name}.ts`);
  });

  it("reports what is wrong", async () => {
    await expect(runProgram(check, "modules/wrong.ts")).rejects.toThrow(/no exported member/);
  });
});
