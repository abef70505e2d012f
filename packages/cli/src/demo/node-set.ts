import type { RedisNode } from "@redlatch/core";

/** One node as the demo treats it. */
export interface DemoNode {
  readonly name: string;
  /** What the demo did to it. */
  readonly state: "up" | "hung" | "killed";
  /** Commands are refused, until `restart`. */
  kill(): void;
  restart(): void;
  /** Commands are withheld, until `resume` lets them through. */
  hang(): void;
  resume(): void;
}

/** The nodes of a demo. */
export interface NodeSet {
  readonly nodes: readonly DemoNode[];
  /** Whether nodes live in this process, so that the demo may really kill one. */
  readonly embedded: boolean;
  /** How long a node may take to answer, in milliseconds. */
  readonly nodeTimeoutMs: number;
  /** The nodes for one more Redlock, over connections of its own where there are any. */
  connect(): readonly RedisNode[];
  /** Ends the connections. */
  close(): void;
}
