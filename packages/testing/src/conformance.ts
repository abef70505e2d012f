import type { ConformanceCase } from "./conformance/case.ts";
import { abortingCases } from "./conformance/cases/aborting.ts";
import { errorCases } from "./conformance/cases/errors.ts";
import { keyCases } from "./conformance/cases/keys.ts";
import { loadCases } from "./conformance/cases/load.ts";
import { lostReplyCases } from "./conformance/cases/lost-replies.ts";
import { replyCases } from "./conformance/cases/replies.ts";
import { scriptCases } from "./conformance/cases/scripts.ts";
import { silentServerCases } from "./conformance/cases/silence.ts";
import { subscriptionCases } from "./conformance/cases/subscriptions.ts";
import { textCases } from "./conformance/cases/texts.ts";
import type { LockScenario } from "./conformance/scenario.ts";
import { endingScenarios } from "./conformance/scenarios/endings.ts";
import { exclusionScenarios } from "./conformance/scenarios/exclusion.ts";
import { leaseScenarios } from "./conformance/scenarios/leases.ts";

export type { ConformanceCase, ConformanceContext } from "./conformance/case.ts";
export type { LockScenario, ScenarioContext } from "./conformance/scenario.ts";

/**
 * What a node of any driver has to do, as data for any test runner. Each case sends real commands to one
 * real server, under names of its own, and cleans up.
 *
 * @example
 * ```ts
 * import { test } from "node:test";
 * import { defineNode } from "@redlatch/core";
 * import { conformanceCases } from "@redlatch/testing/conformance";
 *
 * declare const driver: { send(command: string[]): Promise<unknown> };
 * const node = defineNode("redis-a", (command) => driver.send(command));
 * for (const { name, run } of conformanceCases) test(name, () => run(node));
 * ```
 */
export const conformanceCases: readonly ConformanceCase[] = [
  ...replyCases,
  ...scriptCases,
  ...textCases,
  ...keyCases,
  ...errorCases,
  ...abortingCases,
  ...lostReplyCases,
  ...loadCases,
  ...subscriptionCases,
];

/**
 * What a node has to do while its server is silent. These cases need a context that can silence it, for
 * instance by `CLIENT PAUSE`, and disturb whoever else uses that server.
 */
export const silenceCases: readonly ConformanceCase[] = silentServerCases;

/**
 * What locks have to do over any set of nodes: exclusion, extension, hand-over, loss, abort, close. They
 * take names of their own, so they may run side by side.
 *
 * @example
 * ```ts
 * import type { RedisNode } from "@redlatch/core";
 * import { lockScenarios } from "@redlatch/testing/conformance";
 *
 * declare const nodes: RedisNode[];
 * await Promise.all(lockScenarios.map(({ run }) => run(nodes)));
 * ```
 */
export const lockScenarios: readonly LockScenario[] = [
  ...exclusionScenarios,
  ...leaseScenarios,
  ...endingScenarios,
];
