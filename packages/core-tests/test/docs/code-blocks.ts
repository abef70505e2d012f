import { readFileSync } from "node:fs";

/** One TypeScript block of a document. */
export interface CodeBlock {
  /** The document, from the root of the repository. */
  readonly file: string;
  /** The line of the document on which the code begins, from 1. */
  readonly line: number;
  readonly code: string;
}

/** A line that opens or closes a block: in Markdown as it is, in TSDoc behind the comment's star. */
const FENCE = /^(\s*\*? ?)```(\w*)/;

/** Finds the TypeScript blocks of a Markdown text, or of the comments of a source text. */
export function codeBlocksOf(file: string, text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; margin: number; line: number; code: string[] } | undefined;
  text.split("\n").forEach((content, index) => {
    const [, margin = "", language] = FENCE.exec(content) ?? [];
    if (language === undefined) open?.code.push(content.slice(open.margin));
    else if (!open) open = { language, margin: margin.length, line: index + 2, code: [] };
    else {
      const { line, code } = open;
      if (open.language === "ts") blocks.push({ file, line, code: code.join("\n") });
      open = undefined;
    }
  });
  return blocks;
}

/** Finds the TypeScript blocks of files, named from `root`. */
export const codeBlocksIn = (root: string, files: readonly string[]): CodeBlock[] =>
  files.flatMap((file) => codeBlocksOf(file, readFileSync(`${root}/${file}`, "utf8")));
