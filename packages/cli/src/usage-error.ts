/** The command line is wrong; the message says where and how, without showing what may be secret. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
