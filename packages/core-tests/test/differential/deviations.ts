import { isDeepStrictEqual } from "node:util";
import type { PlainExchange } from "./comparison.ts";

/** Where a server answers otherwise than Redis 7.0, which the memory node is. */
export interface Deviation {
  readonly says: string;
  /** The servers, e.g. `Valkey 9.1.2`. */
  readonly of: RegExp;
  /** Whether this, and nothing else, is the difference between both answers. */
  covers(exchange: PlainExchange): boolean;
}

/** What the memory node says of an error in a script. */
const IN_SCRIPT = /^\(error\) (.*) script: ([0-9a-f]{40}), on @user_script:(\d+)\.$/;

const UNKNOWN_IN_SCRIPT = "ERR Unknown Redis command called from script";

/** A deviation in the text of errors: `expected` gives the other server's text for the memory node's. */
const wording = (
  says: string,
  of: RegExp,
  expected: (text: string) => string | undefined,
): Deviation => ({
  says,
  of,
  covers: ({ real, memory }) => typeof memory === "string" && expected(memory) === real,
});

const DEVIATIONS: readonly Deviation[] = [
  wording("words an error in a script in its own way", /^Redis 6\./, (text) => {
    const [, error, sha, line] = IN_SCRIPT.exec(text) ?? [];
    if (error === undefined) return undefined;
    const itself =
      error === UNKNOWN_IN_SCRIPT
        ? `@user_script: ${line}: Unknown Redis command called from Lua script`
        : error.replace(/^ERR (?=user_script)/, "");
    return `(error) ERR Error running script (call to f_${sha}): @user_script:${line}: ${itself}`;
  }),
  wording("quotes an unknown command in its own way", /^Redis 6\./, (text) =>
    text.startsWith("(error) ERR unknown command '")
      ? text.replaceAll(/'([^']*)' /g, "'$1', ").replaceAll("'", "`")
      : undefined,
  ),
  wording("names the command of an invalid expire time without quotes", /^Redis 6\./, (text) =>
    /expire time in '/.test(text) ? text.replace(/'(\w+)' command$/, "$1") : undefined,
  ),
  {
    says: "checks the bounds of ZRANGEBYSCORE before its LIMIT",
    of: /^Redis 6\./,
    covers: ({ command, real, memory }) =>
      command[0] === "ZRANGEBYSCORE" &&
      real === "(error) ERR min or max is not a float" &&
      memory === "(error) ERR value is not an integer or out of range",
  },
  {
    says: "writes scores in their shortest form",
    of: /^(Redis (7\.[2-9]|[89])|Valkey)/,
    covers: ({ command, real, memory }) =>
      /^Z/.test(String(command[0])) && isDeepStrictEqual(real, shortScores(memory)),
  },
  wording("says NOSCRIPT without advice", /^Valkey/, (text) =>
    text.replace(/^(\(error\) NOSCRIPT .*\.) Please use EVAL\.$/, "$1"),
  ),
  wording("names no script in its error", /^Valkey/, (text) => {
    const [, error, , line] = IN_SCRIPT.exec(text) ?? [];
    if (error === undefined) return undefined;
    const itself = error === UNKNOWN_IN_SCRIPT ? error.replace("Redis ", "") : error;
    return `(error) ${itself} script: on @user_script:${line}.`;
  }),
];

const shortScores = (reply: unknown): unknown =>
  Array.isArray(reply)
    ? reply.map(shortScores)
    : String(reply).replace(/^0\.10000000000000001$/, "0.1");

export const deviationsOf = (server: string): readonly Deviation[] =>
  DEVIATIONS.filter(({ of }) => of.test(server));
