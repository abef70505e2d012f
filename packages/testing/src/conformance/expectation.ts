import { shown } from "./exchange.ts";

/** Throws unless both are the same. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (Object.is(actual, expected)) return;
  throw new Error(`${what}: expected ${shown(expected)}, got ${shown(actual)}`);
}

/** Throws unless the fact holds. */
export function expectThat(fact: unknown, what: string): asserts fact {
  if (!fact) throw new Error(what);
}

/** Throws unless the text matches. */
export function expectMatch(what: string, text: string, pattern: RegExp): void {
  expectThat(pattern.test(text), `${what}: expected ${pattern}, got ${shown(text)}`);
}

/** Asks until the answer is true; throws when it is not in time. */
export async function expectSoon(
  what: string,
  withinMs: number,
  ask: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    if (await ask()) return;
    expectThat(performance.now() < deadlineMs, `not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
