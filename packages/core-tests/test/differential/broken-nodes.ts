import { memoryNode } from "@redlatch/testing";
import { RELEASE } from "../../../core/src/scripts.ts";
import type { MakeTwin } from "./run.ts";

type Command = readonly string[];

/** Stands between the comparison and a right memory node. */
const broken =
  (execute: (command: Command, right: (command: Command) => unknown) => unknown): MakeTwin =>
  (clock) => {
    const node = memoryNode({ clock });
    return { execute: (command) => execute(command, (changed) => node.execute(changed)) };
  };

const without = (command: Command, word: string): Command =>
  command.filter((each, index) => index < 3 || each !== word);

const DELETES_NOTHING = RELEASE.lua.replace("'DEL'", "'EXISTS'");

/** Memory nodes with one fault each; the comparison has to notice every one of them. */
export const BROKEN_NODES: readonly (readonly [fault: string, node: MakeTwin])[] = [
  [
    "never lets a key expire",
    (clock) => {
      let firstMs: number | undefined;
      return memoryNode({ clock: { wallMs: () => (firstMs ??= clock.wallMs()) } });
    },
  ],
  [
    "sets a key in spite of NX",
    broken((command, right) => right(command[0] === "SET" ? without(command, "NX") : command)),
  ],
  [
    "keeps the TTL when a key is set anew",
    broken((command, right) =>
      right(command[0] === "SET" && command.length === 3 ? [...command, "KEEPTTL"] : command),
    ),
  ],
  [
    "remembers scripts through SCRIPT FLUSH",
    broken((command, right) => (command[1] === "FLUSH" ? "OK" : right(command))),
  ],
  [
    "forgets the script of an EVAL",
    broken((command, right) => {
      try {
        return right(command);
      } finally {
        if (command[0] === "EVAL") right(["SCRIPT", "FLUSH"]);
      }
    }),
  ],
  [
    "counts what it deletes, and does not delete it",
    broken((command, right) =>
      right(command[0] === "DEL" ? ["EXISTS", ...command.slice(1)] : command),
    ),
  ],
  [
    "deletes nothing in a script",
    broken((command, right) => {
      if (command[1] === RELEASE.lua) return right(["EVAL", DELETES_NOTHING, ...command.slice(2)]);
      if (command[1] !== RELEASE.sha) return right(command);
      right(command);
      return right(["EVAL", DELETES_NOTHING, ...command.slice(2)]);
    }),
  ],
  [
    "makes a time 1 s longer",
    broken((command, right) => {
      const reply = right(command);
      return command[0] === "PTTL" && Number(reply) > 0 ? Number(reply) + 1_000 : reply;
    }),
  ],
  [
    "says an error in other words",
    broken((command, right) => {
      try {
        return right(command);
      } catch (error) {
        throw new Error(`${(error as Error).message}!`);
      }
    }),
  ],
];
