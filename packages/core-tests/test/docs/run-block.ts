import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { codeBlocksIn } from "./code-blocks.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const folder = fileURLToPath(new URL("../../.cache/docs", import.meta.url));

/** Imports the block of a document whose first line is a comment with this file name. */
export async function runBlock<Module>(document: string, name: string): Promise<Module> {
  const block = codeBlocksIn(root, [document]).find(({ code }) => code.startsWith(`// ${name}\n`));
  if (!block) throw new Error(`${document} has no block that begins with "// ${name}"`);
  const { outputText } = ts.transpileModule(block.code, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name.replace(/\.ts$/, ".js"));
  writeFileSync(path, outputText);
  return import(path);
}
