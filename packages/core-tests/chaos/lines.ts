import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** Reads a line protocol of JSON. */
export function onMessage<Message>(input: Readable, hear: (message: Message) => void): void {
  const lines = createInterface({ input });
  lines.on("line", (line) => hear(JSON.parse(line)));
  // A peer that was killed; its connection's end tells so.
  lines.on("error", () => {});
}
