import type { Terms } from "./lease-terms.ts";
import type { Message } from "./message.ts";
import type { Process } from "./process.ts";
import type { SimulatedNode } from "./simulated-node.ts";

/** One release on its way to one node and back. */
interface Undo {
  /** The command; with its text, too, where the node did not know the script: of which one cannot be told. */
  readonly messages: Set<Message>;
  readonly sentMs: number;
  /** What its sender has heard of it in time. */
  state: "open" | "answered" | "failed";
}

/** One round of extension, as its sender sees it. */
interface Extension {
  readonly sentMs: number;
  /** Until when an answer counts in it: it ends before the lease does. */
  readonly endsMs: number;
  /** Nodes that said in time that the keys are not its own. */
  readonly denied: Set<SimulatedNode>;
  /** Those of them where the keys are nobody's: after a renewal they are to get them again. */
  readonly bare: Set<SimulatedNode>;
  isRenewed: boolean;
}

/** One token: what was sent for it and what came of it. */
export interface Attempt {
  readonly token: string;
  readonly process: Process;
  readonly keys: readonly string[];
  /** The attempt before, of the same call. */
  before: Attempt | undefined;
  /** When its token was drawn, and its round began. */
  readonly startedMs: number;
  /** The last command that may set keys, and how long those live. */
  setSentMs: number;
  setTtlMs: number;
  /** When a node's answers were last missing or late. */
  readonly troubles: Map<SimulatedNode, number>;
  /** Messages on their way to a node, by when they were sent. */
  readonly underWay: Map<Message, SimulatedNode>;
  /** Messages whose answer its sender has not got, lost ones included. */
  readonly unanswered: Map<Message, SimulatedNode>;
  /** Nodes that granted after the end, and have to be sent a release in the same turn. */
  readonly stragglers: Set<SimulatedNode>;
  /** Nodes from which an error came back. */
  readonly errors: Set<SimulatedNode>;
  /** What was asked for with the lease; absent where another client got it by a hand-over. */
  terms: Terms | undefined;
  /** When holding began, by the monotonic clock of its process. */
  heldSinceMs: number;
  /** The TTL asked for last, by acquisition or extension. */
  askedTtlMs: number | undefined;
  /** Whether the lease was still held when its holder released it. */
  isHeldAtRelease: boolean;
  /** The last round of extension. */
  extension: Extension | undefined;
  /** Nodes whose answer to the acquisition its sender has got. */
  readonly answered: Set<SimulatedNode>;
  /** Those of them that granted. */
  readonly granted: Set<SimulatedNode>;
  /** Who denied it, by token: how long each node said that the holder's keys live. */
  readonly denials: Map<string, number[]>;
  /** Nodes that told the sender of a release that they deleted its keys, and those that had none. */
  readonly deletedBy: Set<SimulatedNode>;
  readonly missingOn: Set<SimulatedNode>;
  /** Nodes that were sent its acquisition. */
  readonly asked: Set<SimulatedNode>;
  /** What its round came to; absent where that cannot be told from others'. */
  verdict: "won" | "lost" | undefined;
  /** How long its round took in the eyes of its sender; absent where that cannot be told from others'. */
  roundMs: number | undefined;
  /** Whether a lease came of it. */
  isLease: boolean;
  /** Its lease was handed over: the giver clears up no more. */
  isHandedOver: boolean;
  /** The process that has begun to release it. */
  releasedBy: string | undefined;
  /** The first release that each node was sent. */
  readonly undo: Map<SimulatedNode, Undo>;
  /** From when on no key of it should be left; absent while it is held or another client's. */
  overMs: number | undefined;
  /** Until when a release lets its keys stand (minHoldMs). */
  standsUntilMs: number;
  /** The client that it belongs to, which a hand-over changes. */
  owner: Process;
}

/** All tokens of a simulation. */
export class Attempts {
  readonly #byToken = new Map<string, Attempt>();
  /** The one that began last. */
  newest: Attempt | undefined;

  get(token: string): Attempt | undefined {
    return this.#byToken.get(token);
  }

  all(): Iterable<Attempt> {
    return this.#byToken.values();
  }

  /** The attempt that a message is about, begun by it if there is none. */
  of(message: Message, process: Process, limitMs: number): { attempt: Attempt; isNew: boolean } {
    const known = this.#byToken.get(message.token);
    if (known) return { attempt: known, isNew: false };
    const attempt: Attempt = {
      token: message.token,
      process,
      keys: message.keys,
      before: undefined,
      startedMs: process.drewMs(message.token) ?? message.sentAtMs,
      setSentMs: message.sentAtMs,
      setTtlMs: 0,
      troubles: new Map(),
      underWay: new Map(),
      unanswered: new Map(),
      stragglers: new Set(),
      errors: new Set(),
      terms: undefined,
      heldSinceMs: process.clock.monotonicNowMs(),
      askedTtlMs: undefined,
      isHeldAtRelease: false,
      extension: undefined,
      answered: new Set(),
      granted: new Set(),
      denials: new Map(),
      deletedBy: new Set(),
      missingOn: new Set(),
      asked: new Set(),
      verdict: undefined,
      roundMs: undefined,
      isLease: false,
      isHandedOver: false,
      releasedBy: undefined,
      undo: new Map(),
      overMs: message.sentAtMs + limitMs,
      standsUntilMs: 0,
      owner: process,
    };
    this.#byToken.set(message.token, attempt);
    this.newest = attempt;
    return { attempt, isNew: true };
  }
}
