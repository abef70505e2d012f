import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import typescript from "typescript";

// Module hooks: Node 20 runs no TypeScript, and the tests need processes of their own that do.
// As in vitest.config.ts, the packages of this repository are taken from their sources.

const OPTIONS = { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 };

export function resolve(specifier, context, next) {
  const [, name] = /^@redlatch\/([a-z-]+)$/.exec(specifier) ?? [];
  if (!name) return next(specifier, context);
  return next(new URL(`../../${name}/src/index.ts`, import.meta.url).href, context);
}

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
  const text = await readFile(fileURLToPath(url), "utf8");
  const { outputText } = typescript.transpileModule(text, { compilerOptions: OPTIONS });
  return { format: "module", source: outputText, shortCircuit: true };
}
