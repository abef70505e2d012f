import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A runtime that starts programs. */
export interface Runtime {
  /** With the reason where it cannot run. */
  readonly name: string;
  /** Where its program is; undefined where no package has it for this machine. */
  readonly program: string | undefined;
  readonly args: readonly string[];
}

const require = createRequire(import.meta.url);
const { platform, arch } = process;

/** Node 20, as far as the tests are run by it: the oldest that is supported. */
export const thisNode: Runtime = {
  name: `Node ${process.versions.node.split(".")[0]}, which runs the tests`,
  program: process.execPath,
  args: [],
};

/** Another Node, from the package that has its program. */
export const node = (major: number): Runtime =>
  runtime(`Node ${major}`, fileOf(`node${major}-${platform}-${arch}`, "bin/node"));

export const deno: Runtime = runtime(
  "Deno",
  nested("deno", `@deno/${platform}-${arch}-glibc`, "deno") ??
    nested("deno", `@deno/${platform}-${arch}`, "deno"),
  ["run", "--quiet", "--allow-all", "--no-config", "--node-modules-dir=manual"],
);

const bunArch = arch === "arm64" ? "aarch64" : arch;

export const bun: Runtime = runtime(
  "Bun",
  nested("bun", `@oven/bun-${platform}-${bunArch}`, "bin/bun"),
  ["run", "--no-install"],
);

function runtime(name: string, program: string | undefined, args: readonly string[] = []): Runtime {
  const lack = program ? "" : ` (no package has its program for ${platform} ${arch})`;
  return { name: name + lack, program, args };
}

function fileOf(name: string, file: string, from: NodeRequire = require): string | undefined {
  try {
    const path = join(dirname(from.resolve(`${name}/package.json`)), file);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** A file of a package that only `parent` depends on. */
function nested(parent: string, name: string, file: string): string | undefined {
  const manifest = fileOf(parent, "package.json");
  return manifest && fileOf(name, file, createRequire(manifest));
}
