import type { RedisNode } from "@redlatch/core";
import type { Driver, Errand, Link } from "./client.ts";
import { connectionOf } from "./connection.ts";

/** A server that accepts a connection and never greets would keep commands waiting for ever. */
const FIRST_ATTEMPT_MS = 10_000;

/** Makes the function that sends a command at once, on its own, to a master, and never again. */
export function senderOf(driver: Driver, name: string): RedisNode["send"] {
  const own = connectionOf(driver);
  let firstAttempt: Promise<unknown> | undefined;
  // A command that was given up still waits for a client; more of them need not.
  let isStuck = false;

  const refusal = (sentTo?: Link) =>
    Object.assign(
      new Error(
        `not connected to ${name}: ${own.cause ?? "closed"}${driver.isOpen ? "" : ", call client.connect() first"}`,
        own,
      ),
      // So that the core need not undo what never left.
      !sentTo && { code: "NOT_SENT" },
    );

  /** Runs the errand with a link to the key's master, as soon as the driver has one. */
  async function lend(key: string, errand: Errand): Promise<void> {
    if (driver.getMasterNode) return driver._execute(false, errand);
    if (driver.execute) return driver.execute(errand);
    if (!(own.cause ?? driver.isReady ?? driver.masters![0])) {
      firstAttempt ??= new Promise((resolve) => {
        own.listeners.add(resolve);
        // It must not keep a process alive; not every runtime's timer can be told so.
        (setTimeout(resolve, FIRST_ATTEMPT_MS) as { unref?(): void }).unref?.();
      });
      await firstAttempt;
    }
    if (!driver.masters) return errand(driver as Link);
    const route = driver._executeWithPolicies ? { firstKey: key } : key;
    return driver._execute(route, false, undefined, errand);
  }

  return ([...args], { key, signal }) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (isStuck || !driver.isOpen) throw refusal();
      let link: Link | undefined;
      const giveUp = (cause: unknown) => {
        // A connection is up, or another one was lost.
        if (!cause || link?.isReady) return;
        isStuck = !(link ?? driver.masters);
        reject(refusal(link));
        // If it is not written yet, the driver refuses to. By abortSignal, two commands that are dropped at
        // once would cut the queue of node-redis 5 and 6.0: whatever follows would never be written.
        args[0] = undefined as never;
      };
      own.listeners.add(giveUp);
      // Where all is well, the link is there by then.
      if (own.cause) setTimeout(() => giveUp(own.cause));
      lend(key, async (lent, options) => {
        link = lent;
        connectionOf(lent, own);
        if (!lent.isReady) throw refusal();
        own.cause = undefined;
        signal.throwIfAborted();
        if (!args[0]) return;
        // Whatever the client's own command options are.
        return lent
          .sendCommand(args, { ...options, abortSignal: undefined, timeout: undefined })
          .then(resolve, (error) => {
            // On a redirection, the driver asks where it was told to. A lost command it would send again.
            if (lent.isReady) throw error;
            reject(error);
          });
      })
        .catch(reject)
        .finally(() => {
          own.listeners.delete(giveUp);
          isStuck = false;
        });
    });
}
