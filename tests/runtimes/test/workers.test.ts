import { describe } from "vitest";
import { contextOf, reports } from "../src/matrix.ts";
import { startBoth } from "../src/servers.ts";
import { runWorker, type WorkerOptions } from "../src/worker.ts";

const WITHOUT: readonly WorkerOptions[] = [
  { driver: "fetch", nodejsCompat: false },
  { driver: "upstash", nodejsCompat: false },
];
const WITH: readonly WorkerOptions[] = [
  { driver: "ioredis", nodejsCompat: true },
  { driver: "node-redis", nodejsCompat: true },
];

describe("workerd", () => {
  describe.each(WITHOUT)("without nodejs_compat: $driver", (options) => {
    reports(startBoth, (servers) =>
      runWorker(options, { servers, context: contextOf(options.driver) }),
    );
  });
  describe.each(WITH)("with nodejs_compat: $driver", (options) => {
    reports(startBoth, (servers) =>
      runWorker(options, { servers, context: contextOf(options.driver) }),
    );
  });
});
