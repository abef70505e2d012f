export type { UpstashClient } from "./client.ts";
export { type UpstashNodeOptions, upstashNode } from "./upstash-node.ts";
