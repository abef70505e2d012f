import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Sources } from "../../mutations/build.ts";
import { type Check, startCheck } from "../../mutations/check.ts";
import { MUTATIONS } from "../../mutations/mutations.ts";
import { seedsIn, tableOf } from "../../mutations/table.ts";

const root = new URL("../../../../", import.meta.url);
/** A survivor is tried with all seeds, on a machine that is busy. */
const LIMIT_MS = 600_000;

describe("The simulated lock", () => {
  let table: string;
  let check: Check | undefined;

  beforeAll(async () => {
    table = await readFile(new URL("docs/mutation-table.md", root), "utf8");
    check = await startCheck(new Sources(new URL("packages/", root)), MUTATIONS, seedsIn(table));
  });

  afterAll(() => check?.end());

  MUTATIONS.forEach(({ name }, index) => {
    it(
      `dies without ${name}`,
      async () => {
        const { kill, falseAlarm } = (await check?.findings[index]) ?? {};
        expect(kill).toBeDefined();
        expect(falseAlarm).toBeUndefined();
      },
      LIMIT_MS,
    );
  });

  it(
    "dies as docs/mutation-table.md says (else run `pnpm mutations --write`)",
    async () => {
      expect(tableOf(await Promise.all(check?.findings ?? []))).toBe(table);
    },
    LIMIT_MS,
  );
});
