import { setTimeout as sleep } from "node:timers/promises";
import { memoryNode } from "@redlatch/testing";
import type { Reply, ServerConnection } from "@redlatch/testkit";
import { KEYS, type Step, type TimeName, type Word } from "./steps.ts";

/** A node under comparison: executes one command, at the time given. */
interface Twin {
  execute(command: readonly string[]): unknown;
}

/** Makes what is compared with the real server; the clock is set by hand. */
export type MakeTwin = (clock: { wallMs(): number }) => Twin;

export const memoryTwin: MakeTwin = (clock) => memoryNode({ clock });

/** A command and what both answered to it. */
export interface Exchange {
  readonly command: readonly string[];
  readonly real: Reply;
  readonly memory: unknown;
}

/** All that happened in one run of a sequence. */
export interface Run {
  readonly exchanges: readonly Exchange[];
  /** How far two times may differ: the real server's clock went on, the memory node's stood still. */
  readonly toleranceMs: number;
}

/** A sequence runs again, slower, where the machine took so long that a short key may have expired early. */
const SHORT_MS = [12, 50, 250, 1_500];

/** Runs a sequence on both, on an empty real server and a new twin. */
export async function runOnBoth(
  steps: readonly Step[],
  server: ServerConnection,
  makeTwin: MakeTwin,
): Promise<Run> {
  for (const shortMs of SHORT_MS) {
    const run = await new Attempt(server, makeTwin, shortMs).run(steps);
    if (run) return run;
  }
  throw new Error(`a few commands took more than ${SHORT_MS.at(-1)} ms, four times`);
}

/** What is asked at the end about every key: type, content and TTL. */
const FINAL: Step[] = KEYS.flatMap((key) => [
  ["TYPE", key],
  ["PTTL", key],
  ["GET", key],
  ["HGETALL", key],
  ["ZRANGE", key, "0", "-1", "WITHSCORES"],
]);

/** Before DBSIZE: Redis counts an expired key until somebody asks for it. */
const TOUCH: Step = ["EXISTS", ...KEYS];

class Attempt {
  readonly #clock = { now: 0, wallMs: () => this.#clock.now };
  readonly #exchanges: Exchange[] = [];
  readonly #twin: Twin;
  #toleranceMs = 2;

  readonly #server: ServerConnection;
  readonly #shortMs: number;

  constructor(server: ServerConnection, makeTwin: MakeTwin, shortMs: number) {
    this.#server = server;
    this.#shortMs = shortMs;
    this.#twin = makeTwin(this.#clock);
  }

  /** Undefined where it took so long that nobody can tell what should have expired. */
  async run(steps: readonly Step[]): Promise<Run | undefined> {
    await this.#server.send([["FLUSHALL"], ["SCRIPT", "FLUSH"]]);
    let position = 0;
    let expiredMs = 0;
    for (const part of partsOf(steps)) {
      await untilMs(expiredMs);
      const startMs = Date.now();
      this.#clock.now = startMs;
      const commands = part.map((step) => this.#render(step as readonly Word[], position++));
      const replies = await this.#server.send(commands);
      const tookMs = Date.now() - startMs;
      if (tookMs >= this.#shortMs - 2) return undefined;
      for (const [index, command] of commands.entries()) {
        const real = replies[index] as Reply;
        this.#exchanges.push({ command, real, memory: this.#answerOf(command) });
      }
      this.#toleranceMs = Math.max(this.#toleranceMs, tookMs + 2);
      // By then everything short that was set in this part has expired for certain.
      expiredMs = startMs + tookMs + this.#shortMs + 3;
    }
    return { exchanges: this.#exchanges, toleranceMs: this.#toleranceMs };
  }

  #answerOf(command: readonly string[]): unknown {
    try {
      return this.#twin.execute(command);
    } catch (error) {
      return error;
    }
  }

  #render(words: readonly Word[], position: number): string[] {
    const inSeconds = words.map((word) => /^(EX|EXPIRE)$/i.test(String(word)));
    const isExpire = inSeconds[0];
    return words.map((word, index) => {
      if (typeof word === "string") return word;
      const ms = this.#lengthOf(word.time, position) + (word.absolute ? this.#clock.now : 0);
      return String(isExpire || inSeconds[index - 1] ? ms / 1_000 : ms);
    });
  }

  #lengthOf(time: TimeName, position: number): number {
    if (time === "short") return this.#shortMs;
    const base = { long: 1, longer: 2, longest: 3 }[time] * 10_000_000;
    return base + position * 10_000;
  }
}

/** Splits a sequence at its waits; each part is sent at once. */
function partsOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const parts: Step[][] = [[]];
  for (const step of [...steps, ...FINAL]) {
    if (step === "wait") parts.push([]);
    else if (step[0] === "DBSIZE") parts.at(-1)?.push(TOUCH, step);
    else parts.at(-1)?.push(step);
  }
  return parts;
}

async function untilMs(wallMs: number): Promise<void> {
  // By the clock that both nodes read; a timer may fire early by it.
  while (Date.now() < wallMs) await sleep(wallMs - Date.now());
}
