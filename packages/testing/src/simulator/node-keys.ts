import type { MemoryNode } from "../memory-node.ts";
import type { NodeClock } from "./node-clock.ts";

/** A key on a node, from when it appeared until it is gone by itself, in true time. */
export interface Presence {
  /** The token that the key holds. */
  readonly token: string;
  readonly sinceMs: number;
  /** When the command was sent that set it. */
  readonly sentAtMs: number;
  /** Nobody can know how long it stays: a duplicate set or extended it, or the node's disk or clock. */
  unasked: boolean;
  expiresAtMs: number;
  goneAtMs: number;
  /** Tokens whose key the node had lost when this one appeared, and should still have had. */
  readonly tainted: readonly string[];
}

/** A key that a node lost before its time. */
interface Ghost {
  readonly token: string;
  readonly goneAtMs: number;
}

/** What set or changed a key. */
export interface Cause {
  readonly sentAtMs: number;
  readonly unasked: boolean;
}

/** The keys of one node as a witness sees them: also what was lost, and what stands since when. */
export class NodeKeys {
  readonly #memory: MemoryNode;
  readonly #clock: NodeClock;
  readonly #presences = new Map<string, Presence>();
  readonly #ghosts = new Map<string, Ghost[]>();

  constructor(memory: MemoryNode, clock: NodeClock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  /** The key as it is now, if it is. */
  find(key: string, nowMs: number): Presence | undefined {
    const presence = this.#presences.get(key);
    return presence && presence.goneAtMs >= nowMs ? presence : undefined;
  }

  /** The key and who holds it, also if its time was up at some moment past. */
  last(key: string): Presence | undefined {
    return this.#presences.get(key);
  }

  /** Whether the node holds the key for this token, or would hold it had it lost nothing. */
  shouldHold(key: string, token: string, nowMs: number): boolean {
    if (this.find(key, nowMs)?.token === token) return true;
    const ghosts = this.#ghosts.get(key);
    return ghosts?.some((ghost) => ghost.token === token && ghost.goneAtMs >= nowMs) ?? false;
  }

  /** All keys, also those whose time is up but that nobody has looked at since. */
  all(): Iterable<[key: string, presence: Presence]> {
    return this.#presences;
  }

  /** All keys that stand now. */
  standing(nowMs: number): [key: string, presence: Presence][] {
    return [...this.#presences].filter(([, { goneAtMs }]) => goneAtMs >= nowMs);
  }

  /** Looks at a key after a command. Gives the presence that has ended, if one has. */
  look(key: string, nowMs: number, cause: Cause): Presence | undefined {
    const entry = this.#memory.peek(key);
    const before = this.#presences.get(key);
    const token = entry && tokenOf(entry.value);
    if (entry && before && before.token === token && before.goneAtMs >= nowMs) {
      if (entry.expiresAtMs !== before.expiresAtMs) {
        before.expiresAtMs = entry.expiresAtMs;
        before.unasked ||= cause.unasked;
        before.goneAtMs = this.#clock.goneAtMs(entry.expiresAtMs);
      }
      return undefined;
    }
    if (entry && token !== undefined) {
      this.#presences.set(key, {
        token,
        sinceMs: nowMs,
        sentAtMs: cause.sentAtMs,
        unasked: cause.unasked,
        expiresAtMs: entry.expiresAtMs,
        goneAtMs: this.#clock.goneAtMs(entry.expiresAtMs),
        tainted: this.#lost(key, nowMs),
      });
    } else if (before) {
      this.#presences.delete(key);
    }
    return before;
  }

  /** Has the node lose data or time by `disaster`, and remembers what it should still have. */
  suffer(nowMs: number, disaster: () => void): void {
    const before = this.standing(nowMs).map(([key, { token, goneAtMs }]) => ({
      key,
      token,
      goneAtMs,
    }));
    disaster();
    const cause = { sentAtMs: nowMs, unasked: true };
    for (const [key] of [...this.#presences]) this.look(key, nowMs, cause);
    for (const key of Object.keys(this.#memory.dump())) this.look(key, nowMs, cause);
    for (const [, presence] of this.#presences) {
      const goneAtMs = this.#clock.goneAtMs(presence.expiresAtMs);
      if (Math.abs(goneAtMs - presence.goneAtMs) > 0.1) presence.unasked = true;
      presence.goneAtMs = goneAtMs;
    }
    for (const { key, token, goneAtMs } of before) {
      const now = this.find(key, nowMs);
      if (now?.token === token && now.goneAtMs >= goneAtMs) continue;
      const ghosts = this.#ghosts.get(key) ?? [];
      this.#ghosts.set(key, [...ghosts, { token, goneAtMs }]);
    }
  }

  #lost(key: string, nowMs: number): readonly string[] {
    const ghosts = this.#ghosts.get(key);
    if (!ghosts) return NONE;
    return ghosts.flatMap(({ token, goneAtMs }) => (goneAtMs >= nowMs ? token : NONE));
  }
}

const NONE: readonly string[] = [];

/** The holder's token: the value up to the owner's label. */
function tokenOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const end = value.indexOf(":");
  return end < 0 ? value : value.slice(0, end);
}
