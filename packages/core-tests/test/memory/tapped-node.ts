import type { Clock, Command, RedisNode, SendOptions } from "@redlatch/core";
import { type MemoryNode, memoryNode, type WallClock } from "@redlatch/testing";
import { ACQUIRE, EXTEND, LOOK, RELEASE, type Script } from "../../../core/src/scripts.ts";

type ScriptName = "acquire" | "extend" | "release" | "look";

const SCRIPTS: Readonly<Record<ScriptName, Script>> = {
  acquire: ACQUIRE,
  extend: EXTEND,
  release: RELEASE,
  look: LOOK,
};

/** Which script of the core a command runs; `other` for plain commands. */
export type CommandKind = ScriptName | "other";

/** One command as it arrived. */
export interface Sent {
  readonly node: string;
  readonly kind: CommandKind;
  readonly command: Command;
  readonly options: SendOptions;
  readonly atMs: number;
}

/** What happens to a command instead of being executed and answered at once. */
export type Fault = (sent: Sent, execute: () => Promise<unknown>) => unknown;

/** A memory node that notes what it is sent and misbehaves on demand. */
export interface TappedNode extends RedisNode {
  readonly memory: MemoryNode;
  readonly sent: Sent[];
  fault: Fault | undefined;
}

export function tappedNode(name: string, clock: Clock, nodeClock: WallClock): TappedNode {
  const memory = memoryNode({ name, clock: nodeClock });
  // As on a server in use: the usual call is one EVALSHA.
  for (const { lua } of Object.values(SCRIPTS)) memory.execute(["SCRIPT", "LOAD", lua]);
  const node: TappedNode = {
    name,
    memory,
    sent: [],
    fault: undefined,
    send(command, options) {
      const sent: Sent = {
        node: name,
        kind: kindOf(command),
        command: [...command],
        options,
        atMs: clock.monotonicMs(),
      };
      node.sent.push(sent);
      const execute = (): Promise<unknown> => memory.send(command);
      return (node.fault ? node.fault(sent, execute) : execute()) as Promise<unknown>;
    },
  };
  return node;
}

function kindOf([name, script]: Command): CommandKind {
  if (name !== "EVALSHA" && name !== "EVAL") return "other";
  for (const [kind, { sha, lua }] of Object.entries(SCRIPTS)) {
    if (script === sha || script === lua) return kind as CommandKind;
  }
  throw new Error(`a script that the core's scripts.ts does not have: ${script}`);
}

/** Limits a fault to some kinds of commands. */
export const only = (kinds: CommandKind | readonly CommandKind[], fault: Fault): Fault => {
  return (sent, execute) => (kinds.includes(sent.kind) ? fault(sent, execute) : execute());
};

/** Limits a fault to the first `count` commands that it would meet. */
export const first = (count: number, fault: Fault): Fault => {
  let left = count;
  return (sent, execute) => (left-- > 0 ? fault(sent, execute) : execute());
};

/** Never executed, never answered. */
export const lost: Fault = () => new Promise(() => {});

/** Executed, never answered. */
export const mute: Fault = (_, execute) => {
  execute().catch(() => {});
  return new Promise(() => {});
};

export const refused: Fault = ({ node }) => Promise.reject(new Error(`ECONNREFUSED ${node}`));

/** Executed at once, answered after `ms`. */
export const slowReply =
  (clock: Clock, ms: number): Fault =>
  async (_, execute) => {
    const reply = await execute();
    await pause(clock, ms);
    return reply;
  };

/** Executed and answered after `ms`. */
export const late =
  (clock: Clock, ms: number): Fault =>
  async (_, execute) => {
    await pause(clock, ms);
    return execute();
  };

/** Executed after `ms`, never answered. */
export const lateAndMute =
  (clock: Clock, ms: number): Fault =>
  (_, execute) => {
    clock.after(ms, () => void execute().catch(() => {}), true);
    return new Promise(() => {});
  };

/** Answered after `ms` with an error, not executed. */
export const lateRefusal =
  (clock: Clock, ms: number): Fault =>
  async ({ node }) => {
    await pause(clock, ms);
    throw new Error(`ECONNRESET ${node}`);
  };

const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve, true));
