/** Where `npm test` unpacks a server for itself, when the machine has none. */
export declare const privateServerBinary: string;

/**
 * Finds a Redis (or Valkey) server program: the environment variable REDLATCH_REDIS_SERVER, else one on
 * PATH, else the privately unpacked one. Answers undefined where there is none.
 */
export declare function findServerBinary(): string | undefined;

/** What to type, in the repository's root, to get a server that nobody else is bothered by. */
export declare const howToGetServer: string;
