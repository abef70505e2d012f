import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Deno's own program, from the package for this machine; undefined where there is none. */
export const program = findProgram();

function findProgram() {
  const { platform, arch } = process;
  const deno = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
  for (const name of [`@deno/${platform}-${arch}-glibc`, `@deno/${platform}-${arch}`]) {
    try {
      return join(dirname(deno.resolve(`${name}/package.json`)), "deno");
    } catch {}
  }
  return undefined;
}

// `pnpm start` asks: the command that the package brings is a script, which passes no signals on.
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(program ?? "deno");
