/** A server of another version than the machine's own. */
export interface ServerVersion {
  /** `old Redis`, for instance. */
  readonly name: string;
  /** The release of Debian that it comes from. */
  readonly suite: string;
  /** Where it is here. */
  readonly program?: string;
  /** Why it is not here. */
  readonly missing?: string;
}

/** Which of the other servers are here, and why the others are not. */
export declare function findServerVersions(): readonly ServerVersion[];
