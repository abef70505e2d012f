import type { Command, RedisNode, SendOptions } from "@redlatch/core";
import { describe, expect, it } from "vitest";
import { coreCommands } from "../../src/conformance/core-commands.ts";
import { conformanceCases, lockScenarios, silenceCases } from "../../src/conformance.ts";
import { type MemoryNode, memoryNode } from "../../src/index.ts";

type Send = (command: Command, options: SendOptions) => Promise<unknown>;

/** A driver of its own for every test, over a memory node. */
interface Driver {
  readonly driver: string;
  readonly make: (server: MemoryNode) => Partial<RedisNode> & { send: Send };
}

const driver = (name: string, wrap: (send: Send, server: MemoryNode) => Send): Driver => ({
  driver: name,
  make: (server) => ({ send: wrap((command) => server.send(command), server) }),
});

const replying = (name: string, change: (reply: unknown, command: Command) => unknown): Driver =>
  driver(name, (send) => async (command, options) => change(await send(command, options), command));

/** Changes all words but the command's name and a script. */
const sending = (name: string, change: (word: string) => string): Driver =>
  driver(name, (send) => ([command, ...words], options) => {
    const kept = command.startsWith("EVAL") ? 2 : 0;
    const changed = words.map((word, index) => (index < kept ? word : change(word)));
    return send([command, ...changed], options);
  });

const failing = (name: string, change: (error: Error) => unknown): Driver =>
  driver(
    name,
    (send) => (command, options) =>
      send(command, options).catch((error) => Promise.reject(change(error))),
  );

/** Two servers, and a rule which of them gets a command. */
const sharded = (
  name: string,
  keyOf: (command: Command, options: SendOptions) => string,
): Driver => ({
  driver: name,
  make(server) {
    const other = memoryNode();
    const isOdd = (key: string) => [...key].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 2;
    return {
      send: (command, options) =>
        (isOdd(keyOf(command, options)) ? server : other).send(command, options),
    };
  },
});

const core = await coreCommands(["a"], 1_000);

/** Answers one of the core's scripts by itself. */
const pretending = (name: string, script: Command, answer: (command: Command) => unknown): Driver =>
  driver(name, (send, server) => async (command, options) => {
    // Without EVALSHA every script is sent in full.
    if (command[0] === "EVALSHA") return server.send(["EVALSHA", "none", "0"]);
    return command[1] === script[1] ? answer(command) : send(command, options);
  });

const text = (reply: unknown, change: (text: string) => unknown): unknown =>
  typeof reply === "string" ? change(reply) : reply;

const untilAborted = ({ signal }: SendOptions): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
    setTimeout(resolve, 20);
  });

/** Which case catches which driver. */
const BROKEN: readonly (Driver & { readonly caughtBy: string })[] = [
  {
    driver: "without a name",
    make: (server) => ({ name: "", send: (command) => server.send(command) }),
    caughtBy: "has a name",
  },
  {
    driver: "with an impossible time limit",
    make: (server) => ({ timeoutMs: Number.NaN, send: (command) => server.send(command) }),
    caughtBy: "has a name",
  },
  {
    ...driver(
      "that gives no promise",
      (_, server) => (command) => server.execute(command) as never,
    ),
    caughtBy: "answers with whole numbers",
  },
  {
    ...driver("that never answers", () => () => new Promise(() => {})),
    caughtBy: "answers with whole numbers",
  },
  { ...replying("that wraps replies", (reply) => [reply]), caughtBy: "answers with whole numbers" },
  {
    ...replying("that makes booleans of 1 and 0", (reply) =>
      reply === 1 || reply === 0 ? reply === 1 : reply,
    ),
    caughtBy: "answers with whole numbers",
  },
  {
    ...replying("that makes null of empty texts", (reply) => (reply === "" ? null : reply)),
    caughtBy: "answers with whole numbers",
  },
  {
    ...replying("that has 32 bits", (reply) => (typeof reply === "number" ? reply | 0 : reply)),
    caughtBy: "answers with whole numbers",
  },
  {
    ...replying("that swallows OK", (reply) => (reply === "OK" ? undefined : reply)),
    caughtBy: "answers SET, GET",
  },
  {
    ...replying("that rounds times to seconds", (reply, [name]) =>
      name === "PTTL" ? `${reply} ms` : reply,
    ),
    caughtBy: "answers SET, GET",
  },
  {
    ...failing("that rewords NOSCRIPT", () => new Error("the script is not in the cache")),
    caughtBy: "refuses an unknown script",
  },
  {
    ...driver(
      "that hides unknown scripts",
      (send) => (command, options) =>
        command[0] === "EVALSHA"
          ? send(command, options).catch(() => null)
          : send(command, options),
    ),
    caughtBy: "refuses an unknown script",
  },
  {
    ...driver("that runs scripts by EVAL only", (send, server) => async (command, options) => {
      const reply = await send(command, options);
      if (command[0] === "EVAL") server.flushScripts();
      return reply;
    }),
    caughtBy: "refuses an unknown script",
  },
  {
    ...driver(
      "that drops the last argument of a script",
      (send) => (command, options) =>
        send(command[0] === "EVAL" ? (command.slice(0, -1) as Command) : command, options),
    ),
    caughtBy: "sent by hand, for one key",
  },
  {
    ...driver(
      "that knows scripts of one key only",
      (send) =>
        ([name, script, , ...rest], options) =>
          send(name.startsWith("EVAL") ? [name, script!, "1", ...rest] : [name, script!], options),
    ),
    caughtBy: "sent by hand, for several keys",
  },
  {
    ...replying("that reads numbers wherever it sees one", (reply) =>
      text(reply, (given) => Number.parseInt(given.replace(/\D+/, ""), 10) || given),
    ),
    caughtBy: "votes alone in a Redlock",
  },
  {
    ...pretending("that extends nothing", core.extend, () => 1),
    caughtBy: "votes alone in a Redlock",
  },
  { ...sending("that trims", (word) => word.trim()), caughtBy: "passes values on" },
  {
    ...sending("that ends texts at NUL", (word) => word.split("\0")[0]!),
    caughtBy: "passes values",
  },
  {
    ...sending("that sends numbers as numbers", (word) =>
      Number.isFinite(+word) && word.trim() === word && word ? String(+word) : word,
    ),
    caughtBy: "passes values on",
  },
  {
    ...sending("that sends one byte per letter", (word) =>
      word.replace(/[^\0-\xff]/gu, (letter) => String.fromCodePoint(letter.codePointAt(0)! & 0xff)),
    ),
    caughtBy: "passes values on",
  },
  {
    ...sending("that decodes URLs", (word) => word.replace(/%25/g, "%").replace(/\+/g, " ")),
    caughtBy: "passes keys on",
  },
  {
    ...sending("that breaks at lines", (word) => word.split(/\r?\n/)[0]!),
    caughtBy: "passes keys on",
  },
  {
    ...replying("that normalises letters", (reply) =>
      text(reply, (given) => given.normalize("NFC")),
    ),
    caughtBy: "shows resources and owners",
  },
  {
    ...replying("that removes byte order marks", (reply) =>
      text(reply, (given) => given.replace(/\ufeff/g, "")),
    ),
    caughtBy: "shows resources and owners",
  },
  {
    ...sharded("that routes by the first argument", ([, first = ""]) => first),
    caughtBy: "sends each command to where its key lives",
  },
  {
    ...sharded("that routes by the last argument", (command) => command.at(-1)!),
    caughtBy: "sends a script over several keys",
  },
  {
    ...driver(
      "that resolves with errors",
      (send) => (command, options) =>
        send(command, options).catch((error) =>
          /NOSCRIPT/.test(error.message) ? Promise.reject(error) : error,
        ),
    ),
    caughtBy: "where a command is refused",
  },
  {
    ...driver(
      "that throws synchronously",
      (_, server) => (command) => Promise.resolve(server.execute(command)),
    ),
    caughtBy: "where a command is refused",
  },
  {
    ...failing("that keeps Redis' words for itself", (error) =>
      /NOSCRIPT/.test(error.message) ? error : new Error("command failed"),
    ),
    caughtBy: "where a script is not even one",
  },
  {
    ...driver("whose pipelines fail as a whole", (send) => {
      let pipeline: Promise<unknown>[] = [];
      return async (command, options) => {
        const mine = pipeline;
        const reply = send(command, options);
        reply.catch(() => {});
        mine.push(reply);
        await new Promise((resolve) => setTimeout(resolve));
        pipeline = [];
        await Promise.all(mine);
        return reply;
      };
    }),
    caughtBy: "each of many commands with its own outcome",
  },
  {
    ...driver(
      "that resolves with the reason of an abort",
      (send) => async (command, options) =>
        options.signal.aborted ? options.signal.reason : send(command, options),
    ),
    caughtBy: "where the signal had aborted before",
  },
  {
    ...driver("that resolves an abort in flight", (send) => async (command, options) => {
      const reply = await send(command, options);
      return options.signal.aborted ? options.signal.reason : reply;
    }),
    caughtBy: "where the signal aborts at once",
  },
  {
    ...driver("that forgets whose reply an aborted command's is", (send) => {
      const waiting: ((reply: unknown) => void)[] = [];
      return (command, { signal, ...options }) =>
        new Promise((resolve, reject) => {
          waiting.push(resolve);
          signal.addEventListener("abort", () => {
            waiting.splice(waiting.indexOf(resolve), 1);
            reject(signal.reason);
          });
          setTimeout(() => waiting.shift()?.(send(command, { signal, ...options })));
        });
    }),
    caughtBy: "goes on after aborted commands",
  },
  {
    ...pretending("that releases nothing", core.release, () => 1),
    caughtBy: "where a promise never settles",
  },
  {
    ...driver("that refuses more than 500 at once", (send) => {
      let running = 0;
      return async (command, options) => {
        if (++running > 500) throw new Error("too many commands");
        await new Promise((resolve) => setTimeout(resolve));
        running--;
        return send(command, options);
      };
    }),
    caughtBy: "each of 1,000 commands",
  },
  {
    ...driver("that answers in another order", (send) => {
      let waiting: (() => void)[] = [];
      const replies: Promise<unknown>[] = [];
      return (command, options) => {
        replies.push(send(command, options));
        return new Promise((resolve) => {
          waiting.push(() => resolve(replies.shift()));
          if (waiting.length > 1) return;
          setTimeout(() => {
            for (const answer of waiting.reverse()) answer();
            waiting = [];
          });
        });
      };
    }),
    caughtBy: "each of 1,000 commands",
  },
  {
    ...sending("that cuts at 64 KiB", (word) => word.slice(0, 65_536)),
    caughtBy: "passes large values",
  },
  {
    ...replying("that decodes piece by piece", (reply) =>
      text(reply, (given) => {
        const bytes = new TextEncoder().encode(given);
        let decoded = "";
        for (let at = 0; at < bytes.length; at += 1_024) {
          decoded += new TextDecoder().decode(bytes.subarray(at, at + 1_024));
        }
        return decoded;
      }),
    ),
    caughtBy: "passes large values",
  },
  {
    ...driver("that counts arguments in one byte", (send) => async (command, options) => {
      if (command.length > 255) throw new Error("too many arguments");
      return send(command, options);
    }),
    caughtBy: "locks 1,000 resources",
  },
  {
    driver: "whose subscriptions never end",
    make: (server) => ({
      send: (command) => server.send(command),
      subscribe: async (channel, listener) => {
        await server.subscribe(channel, listener);
        return async () => {};
      },
    }),
    caughtBy: "calls listeners for their own channel",
  },
  {
    driver: "whose subscriptions hear everything",
    make: (server) => {
      const listeners = new Set<() => void>();
      return {
        async send(command) {
          if (command[0] === "PUBLISH") for (const listener of listeners) listener();
          return server.send(command);
        },
        async subscribe(_, listener) {
          listeners.add(listener);
          return async () => void listeners.delete(listener);
        },
      };
    },
    caughtBy: "calls listeners for their own channel",
  },
  {
    ...driver("that never recovers from a silence", (send, server) => {
      let broken = false;
      return async (command, options) => {
        broken ||= server.state === "hung";
        if (broken) throw new Error("connection closed");
        return send(command, options);
      };
    }),
    caughtBy: "in time while its server is silent",
  },
  {
    ...driver(
      "that resolves an abort in a silence",
      (send) => (command, options) =>
        Promise.race([send(command, options), untilAborted(options).then(() => "OK")]),
    ),
    caughtBy: "where the signal aborts in a silence",
  },
];

const ALL = [...conformanceCases, ...silenceCases];

function nodeOf({ make }: Driver): { node: RedisNode; silence: (ms: number) => Promise<void> } {
  const server = memoryNode({ name: "driver-a" });
  const silence = async (ms: number) => {
    server.hang();
    setTimeout(() => server.resume(), ms);
  };
  return { node: { name: "driver-a", ...make(server) }, silence };
}

describe("a driver", { timeout: 30_000 }, () => {
  it.concurrent.each(BROKEN)("$driver is caught: $caughtBy …", async (broken) => {
    const [guard, ...more] = ALL.filter(({ name }) => name.includes(broken.caughtBy));
    expect({ guard: guard?.name, more }).toEqual({ guard: expect.any(String), more: [] });
    const { node, silence } = nodeOf(broken);
    const fault = await guard!.run(node, { silence }).then(
      () => undefined,
      (error) => error,
    );
    expect(fault).toBeInstanceOf(Error);
    expect(fault.message.length).toBeGreaterThan(10);
  });

  it.each(ALL)("can be caught by every case: $name", ({ name }) => {
    expect(BROKEN.filter(({ caughtBy }) => name.includes(caughtBy))).not.toEqual([]);
  });
});

/** Odd, but nothing that the core could not live with. */
const ODD: readonly Driver[] = [
  replying("that gives bytes", (reply) => text(reply, (given) => new TextEncoder().encode(given))),
  replying("that gives bigints", (reply) => (typeof reply === "number" ? BigInt(reply) : reply)),
  replying("that gives numbers as texts", (reply) =>
    typeof reply === "number" ? String(reply) : reply,
  ),
  replying("that parses what looks like JSON", (reply) =>
    text(reply, (given) => {
      try {
        return JSON.parse(given);
      } catch {
        return given;
      }
    }),
  ),
  failing("that rejects with texts", (error) => error.message),
  failing("that rewords as Valkey GLIDE does", (error) =>
    Object.assign(new Error(error.message.replace("NOSCRIPT", "NoScriptError:"))),
  ),
  driver("that takes the command apart", (send) => async (command, options) => {
    const copy = command.splice(0) as Command;
    await Promise.resolve();
    return send(copy, options);
  }),
  driver("that pends when aborted", (send) => async (command, options) => {
    const reply = await send(command, options);
    return options.signal.aborted ? new Promise(() => {}) : reply;
  }),
  driver("that rejects when aborted", (send) => async (command, options) => {
    options.signal.throwIfAborted();
    const reply = await send(command, options);
    options.signal.throwIfAborted();
    return reply;
  }),
  sharded("that routes by the key it is told", (_, { key }) => /\{.*\}/.exec(key)?.[0] ?? key),
];

describe.each(ODD)("a driver $driver passes", (odd) => {
  it.each(conformanceCases)("$name", async ({ run }) => {
    await run(nodeOf(odd).node);
  });
});

/** What breaks locks, whichever driver it comes from. */
const UNLOCKING: readonly Driver[] = [
  pretending("that grants everything", core.acquire, () => 1),
  pretending("that releases nothing", core.release, () => 1),
  pretending("that extends nothing", core.extend, () => 1),
  pretending("that sees nothing", core.look, () => ""),
];

describe("every lock scenario fails over some broken nodes", { timeout: 30_000 }, () => {
  it.concurrent.each(lockScenarios)("$name", async ({ run }) => {
    const outcomes = UNLOCKING.map(async (unlocking) => {
      const nodes = ["a", "b", "c"].map((name) => ({ ...nodeOf(unlocking).node, name }));
      return run(nodes, { ttlMs: 400, cycles: 20 }).then(
        () => "unnoticed",
        () => "caught",
      );
    });
    expect(await Promise.all(outcomes)).toContain("caught");
  });
});
