/** What a node's failure comes from: behind "not connected" is a refused connection or a wrong password. */
export function reasonText(cause: Error): string {
  const root = cause.cause instanceof Error ? cause.cause.message : "";
  return root === "" || cause.message.includes(root) ? cause.message : `${cause.message}: ${root}`;
}
