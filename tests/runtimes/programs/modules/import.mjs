import { createRequire } from "node:module";
import process from "node:process";
import * as core from "@redlatch/core";
import * as ioredis from "@redlatch/ioredis";
import * as redis from "@redlatch/redis";
import * as testing from "@redlatch/testing";
import * as conformance from "@redlatch/testing/conformance";
import * as upstash from "@redlatch/upstash";

const required = createRequire(import.meta.url)("./require.cjs");
const imported = { core, ioredis, redis, testing, conformance, upstash };

const namesOf = (modules) =>
  Object.fromEntries(
    Object.entries(modules).map(([name, module]) => [
      name,
      Object.keys(module)
        .filter((key) => key !== "default" && key !== "module.exports")
        .sort(),
    ]),
  );

/** What a lock held by one copy of the packages looks like to the other. */
async function held(mine, other) {
  const node = mine.testing.memoryNode();
  const lease = await new mine.core.Redlock([node]).acquire("a");
  const error = await new other.core.Redlock([node])
    .acquire("a", { waitMs: 0 })
    .catch((reason) => reason);
  await lease.release();
  const { core } = mine;
  return {
    known: core.isRedlockError(error, "RESOURCE_HELD"),
    same: error instanceof core.RedlockError,
  };
}

const said = {
  imported: namesOf(imported),
  required: namesOf(required),
  crossed: [await held(imported, required), await held(required, imported)],
  own: [await held(imported, imported), await held(required, required)],
};
process.stdout.write(`${JSON.stringify(said)}\n`, () => process.exit(0));
