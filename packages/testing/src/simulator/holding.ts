import type { Addition, Lease, LeaseHandle, ReleaseOutcome } from "@redlatch/core";
import type { Belief } from "./beliefs.ts";
import type { SimulatedClient } from "./simulated-client.ts";

/** A lease under observation: use it as its holder would. */
export class Holding {
  readonly lease: Lease;
  readonly client: SimulatedClient;
  readonly #belief: Belief;
  #extensions = 0;
  #releasing = false;
  #handedOver = false;

  /** @internal */
  constructor(client: SimulatedClient, lease: Lease, belief: Belief) {
    this.client = client;
    this.lease = lease;
    this.#belief = belief;
  }

  /** Asks the lease, as a holder does before it acts; the answer is judged. */
  isHeld(): boolean {
    const isHeld = this.lease.isHeld();
    if (isHeld) this.client.judge.beliefs.seenHeld(this.#belief);
    return isHeld;
  }

  async extend(by?: number | Addition): Promise<void> {
    const { judge, process, settings } = this.client;
    // One round at a time: it waits for those before it, and for an automatic one.
    const boundMs = (++this.#extensions + 1) * settings.nodeTimeoutMs;
    const operation = judge.operations.start("extend", process, this.#belief.keys, boundMs);
    try {
      await this.lease.extend(by);
      judge.extended(operation, this.#belief);
    } catch (error) {
      judge.operations.settle(operation);
      throw error;
    } finally {
      this.#extensions--;
    }
  }

  async release(): Promise<ReleaseOutcome> {
    const { judge, process, settings } = this.client;
    // After a hand-over it is none of its business any more.
    const again = this.#releasing || this.#handedOver;
    this.#releasing = true;
    if (!this.#handedOver) judge.gives(process, this.lease);
    const { keys } = this.#belief;
    // A lease that was lost has given its place in the local queue up already.
    const kind = this.#belief.isOver ? "late release" : "release";
    const operation = judge.operations.start(kind, process, keys, settings.nodeTimeoutMs);
    const outcome = await this.lease.release();
    judge.released(operation, this.lease, outcome, again);
    return outcome;
  }

  handOver(): LeaseHandle {
    const handle = this.lease.handOver();
    this.#handedOver = true;
    this.client.judge.handedOver(this.client.process, this.lease);
    return handle;
  }
}
