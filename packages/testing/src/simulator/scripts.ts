import type { Redlock } from "@redlatch/core";
import { memoryNode } from "../memory-node.ts";
import { sha1Hex } from "../sha1.ts";
import type { MessageKind } from "./fault.ts";

/** The class under simulation: the core's own, or a changed build of it. */
export type RedlockClass = typeof Redlock;

/** The scripts of a build of the core. */
export interface Scripts {
  /** By text and by SHA-1. */
  readonly kinds: ReadonlyMap<string, MessageKind>;
  readonly texts: readonly string[];
}

const known = new WeakMap<RedlockClass, Promise<Scripts>>();

/** Finds out which script of a build does what, by using it once. */
export function scriptsOf(Redlock: RedlockClass): Promise<Scripts> {
  const scripts = known.get(Redlock) ?? learn(Redlock);
  known.set(Redlock, scripts);
  return scripts;
}

async function learn(Redlock: RedlockClass): Promise<Scripts> {
  const kinds = new Map<string, MessageKind>();
  const texts: string[] = [];
  const node = memoryNode();
  let kind: MessageKind = "acquire";
  const redlock = new Redlock([
    {
      name: node.name,
      async send(command) {
        if (command[0] !== "EVAL") throw new Error("NOSCRIPT");
        const text = command[1] as string;
        if (!kinds.has(text)) {
          texts.push(text);
          kinds.set(text, kind);
          kinds.set(sha1Hex(text), kind);
        }
        return node.execute(command);
      },
    },
  ]);
  const lease = await redlock.acquire("lesson");
  kind = "extend";
  await lease.extend();
  kind = "look";
  const restored = await redlock.restore(lease.handOver());
  kind = "release";
  await restored.release();
  return { kinds, texts };
}
