export type { Disturbance, Fate, Fault, FaultKind, MessageKind } from "./fault.ts";
export type { HistoryEntry, Violation } from "./history.ts";
export { Holding } from "./holding.ts";
export type { FaultWeights } from "./plan.ts";
export { Chance } from "./random.ts";
export { reportOf } from "./report.ts";
export type { RedlockClass } from "./scripts.ts";
export type { ClientSettings } from "./settings.ts";
export { planText, shrink } from "./shrink.ts";
export {
  type FaultsToDraw,
  type SimulationOptions,
  type SimulationResult,
  simulate,
} from "./simulate.ts";
export { SimulatedClient } from "./simulated-client.ts";
export type { Survival } from "./simulated-node.ts";
export { type TimelineOptions, timelineOf } from "./timeline.ts";
export type { Traits } from "./traits.ts";
export type { Section } from "./workload.ts";
