/**
 * What the adapter needs of a node-redis client. Clients, pools, clusters and sentinels of node-redis 5 and 6
 * fit, whichever of them is installed; clients of other libraries and of node-redis 4 do not.
 */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  sendCommand(...args: never): Promise<unknown>;
  withTypeMapping(mapping: never): unknown;
  on(event: string, listener: (error?: unknown) => void): unknown;
}

/** node-redis' options of one command, as far as they are used here. */
interface CommandOptions {
  readonly abortSignal?: AbortSignal | undefined;
  readonly timeout?: number | undefined;
}

/** Where a client connects to, as far as it is part of a node's name. */
interface Place {
  readonly url?: string;
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly database?: number;
  readonly readonly?: boolean;
}

/** A client over one connection: by itself, or one of a pool's, a cluster's or a sentinel's. */
export interface Link extends NodeRedisClient {
  readonly isReady: boolean;
  sendCommand(args: readonly unknown[], options: CommandOptions): Promise<unknown>;
}

/** What is done with a link that a driver lends, again if it throws an error that the driver can help. */
export type Errand = (link: Link, options?: CommandOptions) => Promise<void>;

/** Whatever can subscribe. */
export interface Subscriber extends NodeRedisClient {
  subscribe(channel: string, listener: () => void): Promise<unknown>;
  unsubscribe(channel: string, listener: () => void): Promise<unknown>;
  unref(): void;
  destroy(): void;
}

/** The client as it is at run time, private parts included. */
export interface Driver extends Subscriber {
  duplicate(): Subscriber;
  /** A pool and node-redis 5's cluster have none. */
  readonly isReady?: boolean;
  /** Only a client has them. */
  readonly options?: Place;
  /** Only a pool has it. */
  execute?(errand: Errand): Promise<void>;
  /** Only a sentinel has it. */
  getMasterNode?(): unknown;
  /** Only a cluster has it. */
  readonly masters?: readonly unknown[];
  /** A cluster's own. */
  readonly _options: { readonly rootNodes: readonly Place[] };
  /** Only a cluster of node-redis 6 has it. */
  _executeWithPolicies?(): unknown;
  /** A sentinel's. */
  _execute(isReadonly: false, errand: Errand): Promise<void>;
  /** A cluster's: node-redis 5 takes the key, 6 an object that has it. */
  _execute(
    key: string | { readonly firstKey: string },
    isReadonly: false,
    options: undefined,
    errand: Errand,
  ): Promise<void>;
}

/** What other libraries' clients are known by. */
interface Foreign {
  /** Upstash's. */
  readonly createScript: unknown;
  /** ioredis'. */
  readonly isCluster: boolean;
}

/**
 * Tells a node-redis client of a master from anything else by its shape, without importing the driver.
 *
 * @throws TypeError when it is none, or was made to read from a replica, whose replies are never votes.
 */
export function driverOf(client: Partial<Driver & Foreign> | null | undefined): Driver {
  const mistake = client?.createScript
    ? "Upstash: use @redlatch/upstash"
    : client?.isCluster != null
      ? "ioredis: use @redlatch/ioredis"
      : client?.withTypeMapping
        ? faultOf(client)
        : `${client && typeof client}`;
  if (mistake) throw new TypeError(`nodeRedisNode takes a client of redis 5.11+, got ${mistake}`);
  return client as Driver;
}

function faultOf({ masters, _options, options }: Partial<Driver>): string | false | undefined {
  const places = masters ? _options!.rootNodes : [options];
  // The driver repeats an address in its errors.
  return places.some((place) => /:.*@/.test(`${place?.socket?.host} ${place?.socket?.path}`))
    ? "a URL as host"
    : options?.readonly && "a replica's";
}
