import type { CallOptions, LeaseHandle, Redlock, UsingOptions } from "@redlatch/core";
import { Holding } from "./holding.ts";
import type { Judge } from "./judge.ts";
import type { Terms } from "./lease-terms.ts";
import type { Link } from "./link.ts";
import type { Operation } from "./operations.ts";
import type { Process } from "./process.ts";
import type { Chance } from "./random.ts";
import type { ClientSettings } from "./settings.ts";
import { CountedSignal } from "./signal.ts";
import type { World } from "./world.ts";

/** What a client is made of. */
export interface ClientParts {
  readonly index: number;
  readonly world: World;
  readonly judge: Judge;
  readonly process: Process;
  readonly links: readonly Link[];
  readonly redlock: Redlock;
  readonly settings: ClientSettings;
  readonly chance: Chance;
}

/**
 * One process that uses the library, under observation. What it does through these methods is judged; what
 * it does with {@link SimulatedClient.redlock} itself only as far as others see it.
 */
export class SimulatedClient {
  /** `c1`, `c2`, …; after a crash or close `c1'2`, … */
  readonly id: string;
  /** Counts clients from 0; the next process in a client's place has the same. */
  readonly index: number;
  readonly redlock: Redlock;
  readonly settings: ClientSettings;
  /** Seeded chance of its own. */
  readonly chance: Chance;
  /** @internal */
  readonly judge: Judge;
  /** @internal */
  readonly process: Process;
  /** @internal */
  readonly links: readonly Link[];
  readonly #world: World;
  readonly #signals = new Set<CountedSignal>();
  #closed = false;

  /** @internal */
  constructor(parts: ClientParts) {
    this.id = parts.process.id;
    this.index = parts.index;
    this.redlock = parts.redlock;
    this.settings = parts.settings;
    this.chance = parts.chance;
    this.judge = parts.judge;
    this.process = parts.process;
    this.links = parts.links;
    this.#world = parts.world;
  }

  /** True time, which no client knows. */
  get nowMs(): number {
    return this.#world.nowMs;
  }

  /** Whether it has begun to close its Redlock. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Waits by the client's own clock. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.process.clock.after(ms, resolve);
    });
  }

  /** Adds a line to the history. */
  log(what: string, ...details: (string | number)[]): void {
    this.#world.log(this.id, what, ...details);
  }

  /** Reports that a promise was broken, as a critical section of your own sees it. */
  violate(invariant: string, message: string): void {
    this.#world.violate(invariant, message);
  }

  async acquire(resource: string | readonly string[], options: CallOptions = {}): Promise<Holding> {
    const operation = this.#startsAcquiring(resource, options);
    const held = this.#aborting(options);
    try {
      const lease = await this.redlock.acquire(resource, held.options);
      return new Holding(this, lease, this.judge.won(operation, lease, termsOf(options, false)));
    } catch (error) {
      this.judge.gaveUp(operation, error);
      throw error;
    } finally {
      held.end();
    }
  }

  async tryAcquire(
    resource: string | readonly string[],
    options: CallOptions = {},
  ): Promise<Holding | null> {
    const keys = this.#keysOf(resource);
    const { nodeTimeoutMs } = this.settings;
    const operation = this.judge.operations.start("tryAcquire", this.process, keys, nodeTimeoutMs);
    const held = this.#aborting(options);
    try {
      const lease = await this.redlock.tryAcquire(resource, held.options);
      if (lease) {
        return new Holding(this, lease, this.judge.won(operation, lease, termsOf(options, false)));
      }
    } catch (error) {
      this.judge.gaveUp(operation, error);
      throw error;
    } finally {
      held.end();
    }
    this.judge.gaveUp(operation, null);
    return null;
  }

  async using<Value>(
    resource: string | readonly string[],
    options: UsingOptions,
    work: (holding: Holding) => Promise<Value>,
  ): Promise<Value> {
    const acquiring = this.#startsAcquiring(resource, options);
    const held = this.#aborting(options);
    let ending: Operation | undefined;
    try {
      return await this.redlock.using(resource, held.options, async (lease) => {
        const belief = this.judge.won(acquiring, lease, termsOf(options, true));
        const holding = new Holding(this, lease, belief);
        try {
          return await work(holding);
        } finally {
          this.judge.gives(this.process, lease);
          const { nodeTimeoutMs } = this.settings;
          const { keys } = acquiring;
          ending = this.judge.operations.start("using ends", this.process, keys, nodeTimeoutMs);
        }
      });
    } catch (error) {
      if (!acquiring.isSettled) this.judge.gaveUp(acquiring, error);
      throw error;
    } finally {
      if (ending) this.judge.operations.settle(ending);
      held.end();
    }
  }

  async restore(handle: LeaseHandle, options: CallOptions = {}): Promise<Holding> {
    const keys = this.judge.keysOf(handle.resources);
    const { nodeTimeoutMs } = this.settings;
    const operation = this.judge.operations.start("restore", this.process, keys, nodeTimeoutMs);
    try {
      const lease = await this.redlock.restore(handle, options);
      return new Holding(this, lease, this.judge.won(operation, lease));
    } catch (error) {
      this.judge.gaveUp(operation, error);
      throw error;
    }
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    const boundMs = graceMs + 2 * this.settings.nodeTimeoutMs;
    const operation = this.judge.operations.start("close", this.process, ["everything"], boundMs);
    this.process.retire();
    this.judge.operations.hurry(this.process);
    this.log("closes");
    await this.redlock.close({ graceMs });
    this.judge.operations.settle(operation);
    this.log("has closed");
  }

  /** Aborts the signals that its calls were given. */
  abort(): void {
    this.log("aborts", this.#signals.size);
    this.judge.operations.hurry(this.process);
    for (const signal of this.#signals) signal.abort();
  }

  /** How many listeners its calls have left behind on their signals. */
  get listeners(): number {
    let count = 0;
    for (const { listeners } of this.#signals) count += listeners;
    return count;
  }

  #startsAcquiring(resource: string | readonly string[], { waitMs }: CallOptions): Operation {
    const patienceMs = waitMs ?? this.settings.waitMs;
    const boundMs = patienceMs + this.settings.nodeTimeoutMs;
    const keys = this.#keysOf(resource);
    return this.judge.operations.start("acquire", this.process, keys, boundMs, patienceMs);
  }

  #keysOf(resource: string | readonly string[]): readonly string[] {
    const resources = typeof resource === "string" ? [resource] : [...new Set(resource)].sort();
    return this.judge.keysOf(resources);
  }

  /** Gives a call a signal that an `abort` fault can use, unless it has one of its own. */
  #aborting<Options extends CallOptions>(options: Options): { options: Options; end: () => void } {
    if (options.signal) return { options, end: () => {} };
    const signal = new CountedSignal();
    this.#signals.add(signal);
    const end = (): void => {
      if (signal.listeners === 0) this.#signals.delete(signal);
    };
    return { options: { ...options, signal: signal.signal }, end };
  }
}

/** What a call asks for; the simulator's options do not set these. */
const termsOf = (
  { autoExtend, minHoldMs = 0, maxHoldMs = Infinity }: CallOptions,
  isUsing: boolean,
): Terms => ({ autoExtend: autoExtend ?? isUsing, minHoldMs, maxHoldMs });
