import type { Context } from "./context.ts";
import { LeaseLostError } from "./errors.ts";
import type { ReleaseOutcome } from "./events.ts";
import { RELEASED } from "./hold.ts";
import { failed, textOf } from "./node-command.ts";
import { nodeTimeoutOf, type Settings } from "./options.ts";
import type { RedisNode, SendOptions } from "./redis-node.ts";
import { Round } from "./round.ts";
import { majorityOf } from "./tally.ts";
import { type Vote, voteOf } from "./vote.ts";

/** Deletes the resource's key on every node, whoever holds it. */
export async function forceRelease(
  context: Context,
  settings: Settings,
  resource: string,
): Promise<ReleaseOutcome> {
  const key = settings.keyPrefix + resource;
  const held = context.queue.holder([resource])?.hold;
  held?.lose(new LeaseLostError(held.grant.resources, "lost: it was released by force"));
  const send = async (node: RedisNode, _: number, options: SendOptions): Promise<Vote> => {
    try {
      const deleted = textOf(await node.send(["DEL", key], options));
      return voteOf(node.name, deleted, "");
    } catch (error) {
      return failed(node.name, error);
    }
  };
  const round = new Round(context.quorum, {
    key,
    send,
    limitMs: (node) => nodeTimeoutOf(node, settings),
  });
  context.quorum.background(round.complete(), settings.waitUntil);
  return RELEASED[await round.until(majorityOf)];
}
