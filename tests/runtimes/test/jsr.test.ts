import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { consumer, repository } from "../src/folders.ts";
import { deno } from "../src/runtimes.ts";

describe.skipIf(!deno.program)("the core, for JSR", () => {
  const core = join(repository, "packages/core");
  const { version } = JSON.parse(readFileSync(join(core, "package.json"), "utf8"));

  it("passes `deno publish --dry-run`: no slow types, nothing but sources", async () => {
    const env = { ...process.env, NO_COLOR: "1", DENO_DIR: join(consumer, ".deno") };
    const args = ["publish", "--dry-run", "--allow-dirty", "--set-version", version];
    const { stderr } = await promisify(execFile)(deno.program!, args, { cwd: core, env });
    expect(stderr).toContain(`@redlatch/core@${version}`);
    expect(stderr).toContain("Dry run complete");
    const files = [...stderr.matchAll(/packages\/core\/(\S+) \(/g)].map(([, file]) => file);
    expect(files).toContain("src/index.ts");
    expect(files.filter((file) => !/^(src\/.*\.ts|README\.md|jsr\.json)$/.test(file!))).toEqual([]);
  });
});
