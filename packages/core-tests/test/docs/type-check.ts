import ts from "typescript";
import type { CodeBlock } from "./code-blocks.ts";

/** What a careful user compiles with. */
const USER_OPTIONS: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
  types: ["node"],
  noEmit: true,
  skipLibCheck: true,
  // For the sources of the packages, which stand in for their builds.
  allowImportingTsExtensions: true,
};

/** What a document's code needs beside: types of packages, decorators. */
export type Compilation = Pick<
  ts.CompilerOptions,
  "types" | "experimentalDecorators" | "emitDecoratorMetadata"
>;

/**
 * Compiles each block as a module of its own, which lies in `folder` as far as imports go. `sources` says
 * which file a package's name stands for, `types` which packages' global types are there.
 *
 * @returns one line for each fault: document, line and what the compiler says
 */
export function faultsOf(
  blocks: readonly CodeBlock[],
  folder: string,
  sources: Readonly<Record<string, string>>,
  how: Compilation = {},
): string[] {
  const paths = Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, [path]]));
  const options = { ...USER_OPTIONS, paths, ...how };
  const modules = new Map(
    blocks.map((block, index) => [`${folder}/block-${index}.ts`, block] as const),
  );
  const program = ts.createProgram([...modules.keys()], options, hostOf(modules, options, folder));
  return [...modules].flatMap(([path, block]) => {
    const source = program.getSourceFile(path);
    const slips = program.getSyntacticDiagnostics(source);
    // What was not understood has no meaning to check.
    const faults = slips.length > 0 ? slips : program.getSemanticDiagnostics(source);
    return faults.map((fault) => faultLine(block, fault));
  });
}

/** Files on disk, libraries above all, are parsed once for all programs. */
const parsed = new Map<string, ts.SourceFile | undefined>();

function hostOf(
  modules: ReadonlyMap<string, CodeBlock>,
  options: ts.CompilerOptions,
  folder: string = process.cwd(),
): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  return {
    ...host,
    getCurrentDirectory: () => folder,
    fileExists: (path) => modules.has(path) || fileExists(path),
    readFile: (path) => modules.get(path)?.code ?? readFile(path),
    getSourceFile(path, language, ...rest) {
      const block = modules.get(path);
      if (block) return ts.createSourceFile(path, block.code, language);
      if (!parsed.has(path)) parsed.set(path, getSourceFile(path, language, ...rest));
      return parsed.get(path);
    },
  };
}

function faultLine(block: CodeBlock, { file, start, messageText }: ts.Diagnostic): string {
  const { line } = file?.getLineAndCharacterOfPosition(start ?? 0) ?? { line: 0 };
  return `${block.file}:${block.line + line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
}

/** The names that a type or interface of a source file is made of: its properties, or its string members. */
export function membersOf(path: string, typeName: string): string[] {
  const program = ts.createProgram([path], USER_OPTIONS, hostOf(new Map(), USER_OPTIONS));
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const exports = source && checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);
  const symbol = exports?.find(({ name }) => name === typeName);
  if (!symbol) throw new Error(`${path} exports no type ${typeName}`);
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  return type.isUnion()
    ? type.types.map((member) => String((member as ts.StringLiteralType).value))
    : checker.getPropertiesOfType(type).map(({ name }) => name);
}
