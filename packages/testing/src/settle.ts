/*
 * Lets every promise that can settle do so: one turn of the event loop, before which all microtasks
 * run, however long their chains are. Counting promise ticks instead would need a number that some
 * chain exceeds. What is used is captured when this module loads, so that fake timers do not stop it:
 * setImmediate (Node, Bun, Deno), else a MessageChannel (browsers, workerd), else a timer of 0 ms.
 */

const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
const { MessageChannel, setTimeout } = globalThis;

/** Resolves after all microtasks that are queued, and those that they queue, have run. */
export const settle: () => Promise<void> = setImmediate
  ? () => new Promise((resolve) => void setImmediate(resolve))
  : settleWithoutImmediate;

function settleWithoutImmediate(): Promise<void> {
  if (!MessageChannel) {
    return new Promise((resolve) => void setTimeout(resolve, 0));
  }
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      // An open port would keep some runtimes alive.
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
