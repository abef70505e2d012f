import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { codeBlocksIn, codeBlocksOf } from "./code-blocks.ts";
import { type Compilation, faultsOf, membersOf } from "./type-check.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const folder = dirname(fileURLToPath(import.meta.url));

const filesUnder = (path: string, ending: string): string[] =>
  readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending) && !file.includes("node_modules"))
    .map((file) => join(path, file));

const foldersOf = (parent: string): string[] =>
  readdirSync(join(root, parent))
    .map((name) => `${parent}/${name}`)
    .filter((path) => existsSync(join(root, path, "package.json")));
const packages = foldersOf("packages");
// The private packages are not documented for users.
const published = packages.filter((path) => !manifestOf(path).private);
const sources = Object.fromEntries(
  published.flatMap((path) => {
    const { name, exports = {} } = manifestOf(path);
    // By the rule of the builds, `dist/entry.js` is made of `src/entry.ts`.
    return Object.keys(exports)
      .map((entry) => entry.slice("./".length))
      .map((entry) => [join(name, entry), join(root, path, "src", `${entry || "index"}.ts`)])
      .filter(([, source]) => existsSync(source!));
  }),
);

const documents = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...[...packages, ...foldersOf("apps")]
    .map((path) => `${path}/README.md`)
    .filter((file) => existsSync(join(root, file))),
  ...filesUnder("docs", ".md"),
];
const sourceFiles = published
  .filter((path) => existsSync(join(root, path, "src")))
  .flatMap((path) => filesUnder(`${path}/src`, ".ts"));
const withCode = [...documents, ...sourceFiles].filter(
  (file) => codeBlocksIn(root, [file]).length > 0,
);

/** Documents whose code is compiled in another place, or in another way, than the rest. */
const GUIDES: Readonly<Record<string, { readonly folder: string; readonly how: Compilation }>> = {
  "docs/own-driver.md": { folder: join(root, "tests/runtimes"), how: { types: ["node", "bun"] } },
  "docs/recipes/nestjs.md": {
    folder,
    how: { experimentalDecorators: true, emitDecoratorMetadata: true },
  },
};

function manifestOf(path: string): { name: string; private?: boolean; exports?: object } {
  return JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
}

describe("code in the documentation", () => {
  let faults: string[];

  beforeAll(() => {
    const usual = withCode.filter((file) => !GUIDES[file]);
    faults = faultsOf(codeBlocksIn(root, usual), folder, sources);
    for (const [file, { folder, how }] of Object.entries(GUIDES)) {
      faults.push(...faultsOf(codeBlocksIn(root, [file]), folder, sources, how));
    }
  });

  it("is found in the README and in the sources", () => {
    expect(withCode).toContain("README.md");
    expect(withCode).toContain("packages/core/src/redlock.ts");
  });

  it.each(withCode)("compiles under strict and exactOptionalPropertyTypes: %s", (file) => {
    expect(faults.filter((fault) => fault.startsWith(`${file}:`))).toEqual([]);
  });

  /** The faults of a text that is no file of this repository. */
  const faultsOfText = (file: string, ...lines: string[]): string[] =>
    faultsOf(codeBlocksOf(file, lines.join("\n")), folder, sources);

  it("is reported with document and line when it does not compile", () => {
    const reported = faultsOfText(
      "guide.md",
      "# A guide",
      "```ts",
      'import { memoryNode } from "@redlatch/testing";',
      'memoryNode({ name: 1, clock: "now" });',
      "```",
      "Not even TypeScript:",
      "```ts",
      "let total = ;",
      "```",
    );
    expect(reported).toEqual([
      "guide.md:4: Type 'number' is not assignable to type 'string'.",
      "guide.md:4: Type 'string' is not assignable to type 'WallClock'.",
      "guide.md:8: Expression expected.",
    ]);
  });

  it("is reported with file and line when it stands in a comment", () => {
    const reported = faultsOfText(
      "src/node.ts",
      "/**",
      " * Makes a node.",
      " *",
      " * ```ts",
      ' * import { nothing } from "@redlatch/core";',
      " * ```",
      " */",
    );
    expect(reported).toEqual([
      expect.stringMatching(/^src\/node\.ts:5: .*has no exported member 'nothing'/),
    ]);
  });
});

describe("links in the documentation", () => {
  it.each(documents)("lead to files of the repository: %s", (document) => {
    const text = readFileSync(join(root, document), "utf8");
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) => target!);
    const broken = targets.filter((target) => !existsSync(join(root, dirname(document), target)));
    expect(broken).toEqual([]);
  });
});

describe("tables of the README", () => {
  /** What stands in backquotes in the first column of the table under a heading. */
  function firstColumn(heading: string): string[] {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const [, section = ""] = readme.split(`\n## ${heading}\n`);
    const [table = ""] = section.split("\n## ");
    const cells = [...table.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell]) => cell!);
    return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  }

  const core = (file: string): string => join(root, "packages/core/src", file);

  it("name every option, and nothing else", () => {
    const options = membersOf(core("options.ts"), "RedlockOptions");
    expect(firstColumn("Options").sort()).toEqual(options.sort());
  });

  it("name every error code, and nothing else", () => {
    const codes = membersOf(core("errors.ts"), "RedlockErrorCode");
    expect(firstColumn("Errors").sort()).toEqual(codes.sort());
  });

  it("name every event, and nothing else", () => {
    const events = membersOf(core("events.ts"), "RedlockEvents");
    expect(firstColumn("Events").sort()).toEqual(events.sort());
  });
});
