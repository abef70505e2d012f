/** A name that nobody else uses on the same server. */
export const uniqueName = (): string => `conformance:${crypto.randomUUID()}`;

/** Names that a Redis Cluster keeps in one slot. */
export const namesTogether = (count: number): string[] => {
  const tag = uniqueName();
  return Array.from({ length: count }, (_, index) => `{${tag}}:${index}`);
};

/**
 * Texts that get damaged on the way where a driver quotes, parses, trims or guesses: as keys, as tokens
 * and as owner labels.
 */
export const HARD_TEXTS: readonly string[] = [
  "0",
  "1",
  "-1",
  "007",
  "1e3",
  "9007199254740993",
  "NaN",
  "true",
  "null",
  "undefined",
  '{"a":1}',
  "[1,2]",
  '"quoted"',
  "OK",
  "$5\r\nhello\r\n",
  "*1\r\n$4\r\nPING\r\n",
  " blanks around ",
  "a\nb\r\nc\td",
  "nul \0 in between",
  "\u0001\u001f\u007f",
  "back\\slash 'single' `tick`",
  "100%25 a+b/c?d&e#f",
  "ключ",
  "锁",
  "é e\u0301",
  "🔒 👩‍👩‍👧",
  "\ufeffmark",
];
