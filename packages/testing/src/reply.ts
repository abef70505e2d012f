/** A status reply such as `OK`: a string to a driver, a table with the field `ok` to a script. */
export class StatusReply {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An error reply, with Redis' own text (`WRONGTYPE Operation against …`). */
export class ReplyError extends Error {
  override readonly name: string = "ReplyError";
}

/** What a command answers inside the node; strings are byte strings. */
export type Reply = number | string | null | StatusReply | ReplyError | Reply[];

export const OK: StatusReply = new StatusReply("OK");

export function wrongType(): ReplyError {
  return new ReplyError("WRONGTYPE Operation against a key holding the wrong kind of value");
}

export function notAnInteger(): ReplyError {
  return new ReplyError("ERR value is not an integer or out of range");
}

export function syntaxError(): ReplyError {
  return new ReplyError("ERR syntax error");
}

export function wrongArity(command: string): ReplyError {
  return new ReplyError(`ERR wrong number of arguments for '${command}' command`);
}

export function invalidExpireTime(command: string): ReplyError {
  return new ReplyError(`ERR invalid expire time in '${command}' command`);
}
