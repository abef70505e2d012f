import { type Command, defineNode, Redlock } from "@redlatch/core";

/** What the core sends in the life of one lock, scripts in full (EVAL) and by name (EVALSHA). */
export interface CoreCommands {
  readonly token: string;
  readonly acquire: Command;
  readonly extend: Command;
  readonly look: Command;
  readonly release: Command;
}

/**
 * Records the core's own commands, instead of repeating them here: whichever version of it is installed,
 * these are what a node has to answer.
 */
export async function coreCommands(
  resources: readonly string[],
  ttlMs: number,
  how: "EVAL" | "EVALSHA" = "EVAL",
): Promise<CoreCommands> {
  const recorded: Command[] = [];
  const recorder = defineNode("recorder", async (command) => {
    if (command[0] === how) recorded.push(command);
    if (command[0] === "EVALSHA" && how === "EVAL") throw new Error("NOSCRIPT");
    return 1;
  });
  const redlock = new Redlock([recorder], { ttlMs });
  const lease = await redlock.acquire(resources);
  await lease.extend(2 * ttlMs);
  await lease.release();
  await redlock.inspect(resources[0] as string);
  await redlock.close();
  const [acquire, extend, release, look] = recorded as [Command, Command, Command, Command];
  return { token: lease.token, acquire, extend, look, release };
}
