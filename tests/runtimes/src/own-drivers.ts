import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { repository } from "./folders.ts";

/** A block of code whose first line names a file. */
const NAMED_BLOCK = /^```ts\n\/\/ ([\w-]+)\.ts\n(.*?)^```$/gms;

/**
 * Writes the complete drivers of docs/own-driver.md as modules: what the guide shows is what runs. As
 * TypeScript, and as JavaScript for runtimes that need it.
 */
export function writeOwnDrivers(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const guide = readFileSync(join(repository, "docs/own-driver.md"), "utf8");
  for (const [, name = "", code = ""] of guide.matchAll(NAMED_BLOCK)) {
    const { outputText } = ts.transpileModule(code, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    writeFileSync(join(folder, `${name}.ts`), code);
    writeFileSync(join(folder, `${name}.mjs`), outputText);
  }
}
