import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests run against the sources, so that a change needs no build first. The built packages are
// checked by the packaging tasks and, in every runtime, by tests/runtimes.
const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const source = (path: string) => fromRoot(`packages/${path}`);
const alias = {
  "@redlatch/core": source("core/src/index.ts"),
  "@redlatch/ioredis": source("ioredis/src/index.ts"),
  "@redlatch/redis": source("redis/src/index.ts"),
  // The longer one first: an alias also stands for what begins like it.
  "@redlatch/testing/conformance": source("testing/src/conformance.ts"),
  "@redlatch/testing/simulator": source("testing/src/simulator/index.ts"),
  "@redlatch/testing": source("testing/src/index.ts"),
  "@redlatch/testkit": source("testkit/src/index.ts"),
  "@redlatch/upstash": source("upstash/src/index.ts"),
};

const project = (name: string, options: Record<string, unknown> = {}) => ({
  resolve: { alias },
  test: {
    name,
    root: source(name),
    include: ["test/**/*.test.ts"],
    ...options,
  },
});

/** The example apps: programs in processes of their own, on real servers. */
const app = (name: string, options: Record<string, unknown> = {}) =>
  project(name, {
    root: fromRoot(`apps/${name}`),
    globalSetup: fromRoot("apps/build.ts"),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    ...options,
  });

export default defineConfig({
  test: {
    // Most of the time goes by waiting for servers: two files at once even on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      // Property tests take some seconds, on a busy machine more.
      project("core", { testTimeout: 60_000 }),
      project("testing", { testTimeout: 60_000 }),
      project("testkit", { testTimeout: 60_000, hookTimeout: 60_000 }),
      project("core-tests", { testTimeout: 60_000, hookTimeout: 60_000 }),
      project("ioredis", { testTimeout: 60_000, hookTimeout: 60_000 }),
      project("redis", { testTimeout: 60_000, hookTimeout: 60_000 }),
      project("upstash", { testTimeout: 60_000, hookTimeout: 60_000 }),
      project("cli", { testTimeout: 90_000, hookTimeout: 60_000 }),
      project("runtimes", {
        root: fromRoot("tests/runtimes"),
        globalSetup: fromRoot("tests/runtimes/src/install-consumer.ts"),
        testTimeout: 60_000,
        hookTimeout: 60_000,
      }),
      app("node-cron"),
      app("deno-http"),
      app("cloudflare-worker"),
    ],
  },
});
