import type { Hold } from "./hold.ts";
import type { LocalQueue } from "./local-queue.ts";
import type { Quorum } from "./quorum.ts";
import type { ReleaseNotices } from "./release-notices.ts";
import type { Waiting } from "./waiting.ts";

/** What one Redlock keeps in this process: its nodes, and everybody who waits for or holds something. */
export interface Context {
  readonly quorum: Quorum;
  readonly queue: LocalQueue;
  readonly notices: ReleaseNotices;
  readonly waitings: Set<Waiting>;
  readonly holds: Set<Hold>;
  /** Calls of `using`, from their wait to their release. */
  readonly works: Set<Promise<unknown>>;
}
