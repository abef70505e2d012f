import { Writable } from "node:stream";
import type { Output, Terminal } from "../src/terminal.ts";

/** An output that keeps what is written; a terminal where it has a size. */
export class Capture extends Writable {
  text = "";
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;

  constructor(size?: { readonly columns: number; readonly rows: number }) {
    super();
    this.isTTY = size !== undefined;
    this.columns = size?.columns;
    this.rows = size?.rows;
  }

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.text += chunk.toString();
    written();
  }
}

/** A terminal to run commands in; `text()` is everything it was told. */
export function captureTerminal(
  size?: { readonly columns: number; readonly rows: number },
  interrupted: AbortSignal = new AbortController().signal,
): Terminal & { readonly out: Capture; readonly err: Capture; text(): string } {
  const [out, err] = [new Capture(size), new Capture()];
  const [stdout, stderr] = [out as Output, err as Output];
  return { stdout, stderr, interrupted, out, err, text: () => out.text + err.text };
}
