import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const core = fileURLToPath(new URL("../../../core", import.meta.url));
/** A user's project: the built types of the core in its node_modules, and nothing of ours around it. */
const project = mkdtempSync(join(tmpdir(), "redlatch-types-"));

beforeAll(() => {
  const installed = join(project, "node_modules/@redlatch/core");
  mkdirSync(installed, { recursive: true });
  cpSync(join(core, "package.json"), join(installed, "package.json"));
  const tsup = join(dirname(createRequire(import.meta.url).resolve("tsup")), "cli-default.js");
  const options = ["--dts-only", "--out-dir", join(installed, "dist")];
  execFileSync(process.execPath, [tsup, ...options], { cwd: core, stdio: "pipe" });
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

type Resolution = readonly [name: string, ts.ModuleKind, ts.ModuleResolutionKind];

const RESOLUTIONS: readonly Resolution[] = [
  ["node16", ts.ModuleKind.Node16, ts.ModuleResolutionKind.Node16],
  ["nodenext", ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ["bundler", ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
];

/** What the compiler says of the code, as a module of either kind, and of the declarations of ours that it reads. */
function faultsOf(
  code: string,
  [, module, moduleResolution]: Resolution,
  more: readonly string[] = [],
): string[] {
  const paths = ["user.mts", "user.cts"].map((file) => join(project, file));
  for (const path of paths) writeFileSync(path, code);
  const program = ts.createProgram(paths, {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", ...more],
    types: [],
    module,
    moduleResolution,
    noEmit: true,
  });
  // TypeScript's own libraries are not ours to check, and large.
  const files = program
    .getSourceFiles()
    .filter((file) => !program.isSourceFileDefaultLibrary(file));
  expect(files.map(({ fileName }) => fileName)).toContainEqual(
    expect.stringMatching(/core\/dist\/index\.d\.ts$/),
  );
  return [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ].map(({ file, messageText }) =>
    [file?.fileName ?? "", ts.flattenDiagnosticMessageText(messageText, " ")].join(": "),
  );
}

const USE = `
import { type Lease, Redlock, type RedisNode } from "@redlatch/core";
declare const nodes: RedisNode[];
export const redlock: Redlock = new Redlock(nodes, { ttlMs: 10_000 });
export async function work(): Promise<boolean> {
  const lease: Lease = await redlock.acquire("a", { signal: new AbortController().signal });
  await lease.extend({ addMs: 5_000 });
  await lease.release();
  return lease.isHeld();
}
`;

const AWAIT_USING = `
import { Redlock, type RedisNode } from "@redlatch/core";
declare const nodes: RedisNode[];
export async function work(): Promise<boolean> {
  await using redlock = new Redlock(nodes);
  await using lease = await redlock.acquire("a");
  const ends: Promise<void> = lease[Symbol.asyncDispose]();
  await ends;
  return lease.isHeld();
}
`;

describe.each(RESOLUTIONS)("the built types under %s", (...resolution) => {
  it("compile with only the types of ES2022 and DOM, and with their declarations checked", () => {
    expect(faultsOf(USE, resolution)).toEqual([]);
  });

  it("let `await using` end a lease and a Redlock where its types are there", () => {
    expect(faultsOf(AWAIT_USING, resolution, ["lib.esnext.disposable.d.ts"])).toEqual([]);
  });
});
