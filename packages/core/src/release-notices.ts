import type { Clock } from "./clock.ts";
import type { Quorum } from "./quorum.ts";
import { quorumOf } from "./tally.ts";

/** So long a subscription outlives its last listener: where there is contention the next one comes soon. */
const LINGER_MS = 1_000;

/** From the first node's notice on, so long the others' are waited for. */
const LATE_MS = 5;

/**
 * Hears from the nodes that can tell when a lock is released. Notices are hints: one that is lost costs a
 * backoff, one that is repeated or comes too early costs an attempt.
 */
export class ReleaseNotices {
  readonly #quorum: Quorum;
  readonly #channels = new Map<string, Channel>();
  /** How many nodes can tell; with none everything goes by the backoff. */
  readonly able: number;

  constructor(quorum: Quorum) {
    this.#quorum = quorum;
    this.able = quorum.nodes.filter(({ subscribe }) => subscribe).length;
  }

  /** Whether somebody waits for the key, or did so lately. */
  knows(key: string): boolean {
    return this.#channels.has(key);
  }

  /** Listens to the keys' channels until the ear is closed. */
  listen(keys: readonly string[]): Ear {
    const channels = keys.map((key) => this.#channel(key));
    const enough = Math.min(this.able, quorumOf(this.#quorum.nodes.length));
    const ear = new Ear(this.#quorum.clock, enough, channels[0] as Channel, () => {
      for (const channel of channels) {
        channel.ears.delete(ear);
        channel.leftMs = this.#quorum.clock.monotonicMs();
        if (channel.lingering) continue;
        channel.lingering = true;
        this.#quorum.background(this.#linger(channel));
      }
    });
    for (const channel of channels) channel.ears.add(ear);
    return ear;
  }

  #channel(key: string): Channel {
    const known = this.#channels.get(key);
    if (known) return known;
    const channel = new Channel(key, this.#quorum);
    this.#channels.set(key, channel);
    return channel;
  }

  /** Ends the channel once nobody has listened for a while. */
  async #linger(channel: Channel): Promise<void> {
    const { clock } = this.#quorum;
    while (channel.ears.size === 0) {
      const restMs = channel.leftMs + LINGER_MS - clock.monotonicMs();
      if (restMs <= 0 || this.#quorum.closed) {
        this.#channels.delete(channel.key);
        return channel.end();
      }
      await this.#quorum.rest(restMs);
    }
    channel.lingering = false;
  }
}

/** One key's subscriptions on all nodes that can tell. */
class Channel {
  readonly key: string;
  readonly ears: Set<Ear> = new Set();
  /** When the last one left that listened, by the monotonic clock. */
  leftMs = 0;
  /** Whether its end is waited for. */
  lingering = false;
  /** Over how many rounds those who hear of one release are to spread themselves. */
  spread = 0;
  readonly #subscriptions: readonly Promise<void | (() => Promise<void>)>[];

  constructor(key: string, { nodes }: Quorum) {
    this.key = key;
    const able = nodes.filter(({ subscribe }) => subscribe);
    const enough = Math.min(able.length, quorumOf(nodes.length));
    let confirmed = 0;
    this.#subscriptions = able.map(async (node, index) => {
      try {
        const end = await node.subscribe?.(key, () => this.#notice(index));
        // What was released before is no longer to be heard of.
        if (++confirmed === enough) for (const ear of this.ears) ear.ring();
        return end;
      } catch {
        // A node that cannot tell, e.g. as an ACL denies it: the backoff does.
      }
    });
  }

  end(): void {
    for (const subscription of this.#subscriptions) {
      subscription.then((end) => end?.()).catch(() => {});
    }
  }

  #notice(node: number): void {
    for (const ear of this.ears) ear.hear(node);
  }
}

/** What one acquisition hears. */
export class Ear {
  readonly #clock: Clock;
  readonly #enough: number;
  readonly #channel: Channel;
  /** Hears nothing any more. */
  readonly close: () => void;
  readonly #heard = new Set<number>();
  #rung = false;
  #wake: (() => void) | undefined;
  #cancelLate: (() => void) | undefined;

  constructor(clock: Clock, enough: number, channel: Channel, close: () => void) {
    this.#clock = clock;
    this.#enough = enough;
    this.#channel = channel;
    this.close = close;
  }

  /** {@link Channel.spread}, which all who wait in this process learn together. */
  get spread(): number {
    return this.#channel.spread;
  }

  set spread(rounds: number) {
    this.#channel.spread = rounds < 1 ? 0 : rounds;
  }

  /** A node says that the lock was released there. */
  hear(node: number): void {
    this.#heard.add(node);
    if (this.#heard.size >= this.#enough) this.ring();
    else if (this.#wake) this.#cancelLate ??= this.#clock.after(LATE_MS, () => this.ring(), true);
  }

  /** It is worth an attempt. */
  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** From now on `wake` is called when it is worth an attempt, at once if it has been since `disarm`. */
  arm(wake: () => void): void {
    this.#wake = wake;
    if (this.#rung) wake();
    // What few nodes said meanwhile was about the release before.
    this.#heard.clear();
  }

  /** An attempt begins: what is heard from now on is about later releases. */
  disarm(): void {
    this.#cancelLate?.();
    this.#cancelLate = undefined;
    this.#wake = undefined;
    this.#rung = false;
    this.#heard.clear();
  }
}
