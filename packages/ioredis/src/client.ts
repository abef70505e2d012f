/**
 * What the adapter needs of an ioredis client. `Redis` and `Cluster` of ioredis 5 and 6 fit, whichever of
 * them is installed; clients of other libraries do not.
 */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster: boolean;
  readonly options: object;
  connect(): Promise<void>;
  call(name: string, ...args: string[]): Promise<unknown>;
  sendCommand(command: never): unknown;
  on(event: string, listener: (error?: unknown) => void): unknown;
}

/** An error as ioredis emits it. */
interface DriverError extends Error {
  command?: unknown;
  readonly lastNodeError?: { command?: unknown };
}

/** ioredis' own command object, as far as it is used here. */
export interface DriverCommand {
  name: string;
  pipelineIndex?: number;
  getSlot(): unknown;
}

/** Where a client connects to, as far as it is part of a node's name. */
export interface Address {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
}

/** The client as it is at run time, private parts included. */
export interface Driver extends IoredisClient {
  readonly options: Address & {
    readonly db?: number;
    readonly name?: string | null;
    readonly readOnly?: boolean;
    readonly role?: string;
    readonly sentinels?: readonly Address[];
  };
  /** Only a Cluster has them. */
  readonly startupNodes?: readonly (string | number | Address)[];
  readonly stream?: { readonly writable: boolean; unref?(): void };
  nodes(role: "master"): unknown[];
  duplicate(options: object): Driver;
  disconnect(): void;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: "message", listener: (channel: string) => void): unknown;
  on(event: string, listener: (error?: DriverError) => void): unknown;
  sendCommand(command: DriverCommand): Promise<unknown>;
}

/**
 * Tells an ioredis client of a master from anything else by its shape, without importing the driver.
 *
 * @throws TypeError when it is none, or was made to read from a replica, whose replies are never votes.
 */
export function driverOf(client: unknown): Driver {
  const shape = Object(client);
  const mistake = mistakeOf(shape, client);
  // It may be an empty string: that is what somebody passed.
  if (mistake != null)
    throw new TypeError(`ioredisNode takes a master's client of ioredis 5 or 6, got ${mistake}`);
  return shape;
}

function mistakeOf(shape: Driver, client: unknown): string | undefined {
  if ("isOpen" in shape) return "node-redis: use @redlatch/redis";
  if ("createScript" in shape) return "Upstash: use @redlatch/upstash";
  if (!("isCluster" in shape)) return `${client && typeof client}`;
  // A Cluster's options have neither.
  const { readOnly, role, sentinels } = shape.options;
  if (readOnly || role === "slave") return "a replica's";
  const addresses = (shape.startupNodes ?? sentinels ?? [shape.options]) as readonly Address[];
  // The driver repeats an address in its errors, and `redis//:secret@host` it takes for a socket's path.
  return addresses.some(({ host, path }) => /:.*@/.test(`${host} ${path}`))
    ? "a URL for a host or path"
    : undefined;
}
