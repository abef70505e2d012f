export type { Fault, FaultKind } from "./fault.ts";
export type { HistoryEntry, Violation } from "./history.ts";
export { Holding } from "./holding.ts";
export type { FaultWeights } from "./plan.ts";
export { type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";
export { SimulatedClient } from "./simulated-client.ts";
export type { Section } from "./workload.ts";
