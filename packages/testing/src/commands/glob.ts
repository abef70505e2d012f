/** Turns a pattern of KEYS (`*`, `?`, `[a-z]`, `[^a]`, `\x`) into a regular expression. */
export function globExpression(pattern: string): RegExp {
  const source = pattern.replace(
    /\\([\s\S])|\[(\^?)((?:\\[\s\S]|[^\]\\])*)\]?|([\s\S])/g,
    (_, escaped: string | undefined, not: string, set: string | undefined, char: string) => {
      if (escaped !== undefined) return literal(escaped);
      if (set !== undefined) return classOf(not, set);
      if (char === "*") return "[\\s\\S]*";
      return char === "?" ? "[\\s\\S]" : literal(char);
    },
  );
  return new RegExp(`^${source}$`);
}

function classOf(not: string, set: string): string {
  const members = set.replace(
    /\\([\s\S])|([\s\S])-([\s\S])|([\s\S])/g,
    (_, escaped, from, to, one) => {
      if (from === undefined) return literal(escaped ?? one);
      // Redis takes a range in either order.
      return from <= to ? `${literal(from)}-${literal(to)}` : `${literal(to)}-${literal(from)}`;
    },
  );
  // An empty class matches nothing, its negation everything: as in JavaScript.
  return `[${not}${members}]`;
}

function literal(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
}
