import type { Survival } from "./simulated-node.ts";

/** What a command is for. `other`: a script that the simulator does not know. */
export type MessageKind = "acquire" | "extend" | "release" | "look" | "other";

interface At {
  /** When, in milliseconds of true time. */
  readonly atMs: number;
}

interface Lasting extends At {
  readonly durationMs: number;
}

/** A client by its index, from 0. */
interface OfClient {
  readonly client: number;
}

/** A node by its index, from 0. */
interface OfNode {
  readonly node: number;
}

/** What the network does to messages; probabilities are from 0 to 1. */
export interface Disturbance {
  readonly loseRequest?: number;
  readonly loseReply?: number;
  /** The request arrives twice, the second time up to `lateMs` later. */
  readonly duplicate?: number;
  /** A request or a reply is late by up to `lateMs`. */
  readonly late?: number;
  readonly lateMs?: number;
}

/** What happens to one message. */
export interface Fate {
  readonly loseRequest?: boolean;
  readonly loseReply?: boolean;
  readonly delayRequestMs?: number;
  readonly delayReplyMs?: number;
  readonly duplicateAfterMs?: number;
}

/** One fault of a plan. A plan can be replayed, and made smaller. */
export type Fault =
  /** The client stands still, its clocks run: garbage collection, a blocked event loop. */
  | (Lasting & OfClient & { readonly kind: "pause"; readonly repliesFirst?: boolean })
  /** The client's machine sleeps: its monotonic clock stands still, its wall clock runs. */
  | (Lasting & OfClient & { readonly kind: "suspend"; readonly repliesFirst?: boolean })
  /** The client's process ends; another one starts after `durationMs`. */
  | (Lasting & OfClient & { readonly kind: "crash-client" })
  | (At & OfClient & { readonly kind: "client-clock-jump"; readonly byMs: number })
  /** Aborts the signals that the client's waiting calls were given. */
  | (At & OfClient & { readonly kind: "abort" })
  /** The client closes its Redlock and goes on with a new one. */
  | (At & OfClient & { readonly kind: "close"; readonly graceMs: number })
  /** The node holds commands back and executes them in order afterwards. */
  | (Lasting & OfNode & { readonly kind: "hang" })
  | (Lasting & OfNode & { readonly kind: "crash-node"; readonly survives: Survival })
  | (At & OfNode & { readonly kind: "node-clock-jump"; readonly byMs: number })
  /** The node's clock runs at `rate` node milliseconds per true millisecond. */
  | (At & OfNode & { readonly kind: "node-clock-rate"; readonly rate: number })
  | (At & OfNode & { readonly kind: "flush" })
  | (At & OfNode & { readonly kind: "flush-scripts" })
  /** No message gets through between these clients and these nodes, or only one way. */
  | (Lasting & {
      readonly kind: "partition";
      readonly clients: readonly number[];
      readonly nodes: readonly number[];
      readonly only?: "requests" | "replies";
    })
  /** A bad network, everywhere or to one client or node. */
  | (Lasting &
      Partial<OfClient & OfNode> &
      Disturbance & {
        readonly kind: "network";
      })
  /** One message: the client's `nth` command of a kind to the node, from 1. */
  | (At &
      OfClient &
      OfNode &
      Fate & {
        readonly kind: "message";
        readonly command: MessageKind;
        readonly nth: number;
      });

/** The kinds of faults. */
export type FaultKind = Fault["kind"];
