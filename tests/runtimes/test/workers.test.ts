import { describe } from "vitest";
import { contextOf, reports } from "../src/matrix.ts";
import { startBoth } from "../src/servers.ts";
import { tested } from "../src/tested.ts";
import { runWorker, type WorkerOptions } from "../src/worker.ts";

const WITHOUT: readonly WorkerOptions[] = tested["workerd without it"].map((driver) => ({
  driver,
  nodejsCompat: false,
}));
const WITH: readonly WorkerOptions[] = tested["workerd with `nodejs_compat`"].map((driver) => ({
  driver,
  nodejsCompat: true,
}));

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
