import type { NodeReply } from "../memory-node.ts";
import type { MessageKind } from "./fault.ts";

/** One command on its way to a node. */
export interface Message {
  readonly kind: MessageKind;
  readonly command: readonly string[];
  readonly keys: readonly string[];
  /** Which attempt it is about. */
  readonly token: string;
  /** Who sent it: a client's process. */
  readonly from: string;
  readonly sentAtMs: number;
  /** A duplicate: nobody waits for its answer. */
  readonly unasked: boolean;
  /** The node has executed it. */
  executed(reply: NodeReply): void;
  /** The node does not even listen. */
  refused(error: Error): void;
}

/** What a command says: its keys and its token. */
export function contentOf(command: readonly string[]): { keys: readonly string[]; token: string } {
  if (!command[0]?.startsWith("EVAL")) return { keys: command.slice(1, 2), token: "" };
  const end = 3 + Number(command[2]);
  const value = command[end] ?? "";
  const colon = value.indexOf(":");
  return { keys: command.slice(3, end), token: colon < 0 ? value : value.slice(0, colon) };
}

/** The milliseconds that a command asks for: behind its keys and its value. */
export const msOf = ({ command, keys }: Message): number => Number(command[4 + keys.length]);
