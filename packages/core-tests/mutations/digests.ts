import { createHash } from "node:crypto";
import { transform } from "esbuild";

/**
 * Mends the SHA-1 constants of scripts whose text a mutation has changed: else every call of a changed script
 * would take two round trips, EVALSHA and EVAL, and the simulator might see that instead of the mutation.
 */
export async function withDigests(source: string): Promise<string> {
  const { code } = await transform(source, { loader: "ts", format: "esm" });
  const scripts = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  let mended = source;
  for (const { sha, lua } of Object.values(
    scripts as Record<string, { sha: string; lua: string }>,
  )) {
    mended = mended.replace(sha, createHash("sha1").update(lua).digest("hex"));
  }
  return mended;
}
