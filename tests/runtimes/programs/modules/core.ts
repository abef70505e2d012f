// Compiled as a user's program is, in every module resolution; never run.
import {
  defineNode,
  isRedlockError,
  type Lease,
  type LeaseHandle,
  type RedisNode,
  Redlock,
} from "@redlatch/core";

const nodes: RedisNode[] = ["a", "b", "c"].map((name) =>
  defineNode(name, (command, { key, signal }) =>
    fetch(`https://${name}.test/${key}`, { body: command[0], signal }),
  ),
);
const redlock = new Redlock(nodes, { ttlMs: 5_000 });

export async function work(): Promise<string | LeaseHandle> {
  const lease: Lease | null = await redlock.tryAcquire("a", { owner: "me" });
  if (lease) return lease.handOver();
  try {
    return await redlock.using(
      ["a", "b"],
      { waitMs: 100 },
      async ({ signal }) => `${signal.aborted}`,
    );
  } catch (error) {
    if (isRedlockError(error, "RESOURCE_HELD")) return `${error.remainingMs?.toFixed()}`;
    throw error;
  }
}

// @ts-expect-error an option that does not exist
redlock.acquire("a", { ttl: 5_000 });
// @ts-expect-error the error of another code has no owner
export const owner = (error: unknown) => isRedlockError(error, "CLOSED") && error.owner;
