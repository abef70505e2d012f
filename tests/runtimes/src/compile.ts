import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { consumer } from "./folders.ts";

/** How a user compiles. */
export interface Compilation {
  readonly resolution: "node16" | "nodenext" | "bundler";
  readonly extension: "ts" | "mts" | "cts";
  readonly lib: readonly string[];
  readonly types: readonly string[];
  /** Whether the packages' own declarations are checked too. */
  readonly checkDeclarations: boolean;
}

const { ModuleKind, ModuleResolutionKind } = ts;

const MODULES = {
  node16: { module: ModuleKind.Node16, moduleResolution: ModuleResolutionKind.Node16 },
  nodenext: { module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext },
  bundler: { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler },
} as const;

/** Compiles a program of the consumer's folder `modules` under the extension given. */
export function compile(name: string, how: Compilation): { faults: string[]; program: ts.Program } {
  const options: ts.CompilerOptions = {
    ...MODULES[how.resolution],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: ts.ScriptTarget.ES2022,
    lib: how.lib.map((lib) => `lib.${lib}.d.ts`),
    types: [...how.types],
    skipLibCheck: !how.checkDeclarations,
    // TypeScript's own ones are right, and large.
    skipDefaultLibCheck: true,
    noEmit: true,
  };
  const path = join(consumer, "modules", `${name}.${how.extension}`);
  const text = readFileSync(join(consumer, "modules", `${name}.ts`), "utf8");
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  const program = ts.createProgram([path], options, {
    ...host,
    getCurrentDirectory: () => consumer,
    fileExists: (file) => file === path || fileExists(file),
    readFile: (file) => (file === path ? text : readFile(file)),
    getSourceFile: (file, language) =>
      file === path ? ts.createSourceFile(file, text, language) : parse(file, language, host),
  });
  const faults = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName ?? ""}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
  return { faults, program };
}

/** Libraries are parsed once for all programs that read them alike. */
const parsed = new Map<string, ts.SourceFile | undefined>();

function parse(
  file: string,
  language: ts.ScriptTarget | ts.CreateSourceFileOptions,
  host: ts.CompilerHost,
): ts.SourceFile | undefined {
  const key = `${file} ${JSON.stringify(language)}`;
  if (!parsed.has(key)) parsed.set(key, host.getSourceFile(file, language));
  return parsed.get(key);
}

/** What an editor shows for an import of the program: its type, and its documentation. */
export function hover(program: ts.Program, name: string): { type: string; documentation: string } {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(program.getRootFileNames()[0] as string) as ts.SourceFile;
  for (const statement of source.statements) {
    const bindings = ts.isImportDeclaration(statement) && statement.importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) continue;
    const specifier = bindings.elements.find((element) => element.name.text === name);
    if (!specifier) continue;
    const symbol = checker.getAliasedSymbol(checker.getSymbolAtLocation(specifier.name)!);
    return {
      type: checker.typeToString(checker.getTypeOfSymbol(symbol)),
      documentation: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    };
  }
  throw new Error(`the program does not import ${name}`);
}
