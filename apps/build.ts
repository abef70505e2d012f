import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Vitest's global setup of an app: builds it, and the packages that it uses. The tests run what a user
 * starts, and a built program starts fast.
 */
export default function build({ name }: { readonly name: string }): void {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const quiet = ["--output-logs=errors-only", "--no-update-notifier"];
  const env = { ...process.env, DO_NOT_TRACK: "1", TURBO_TELEMETRY_DISABLED: "1" };
  execFileSync(
    fileURLToPath(new URL("../node_modules/.bin/turbo", import.meta.url)),
    ["run", "build", `--filter=@redlatch/app-${name}...`, ...quiet],
    { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] },
  );
}
