export { freePort } from "./free-port.ts";
export { outcome } from "./outcome.ts";
export type { Persistence } from "./persistence.ts";
export { type PollingOptions, pollUntil } from "./polling.ts";
export { type ProcessState, processState } from "./process-state.ts";
export type { RealServer, ServerOptions } from "./real-server.ts";
export { replicate } from "./replicate.ts";
export { type Reply, ReplyError } from "./resp.ts";
export type { RestAnswer } from "./rest-protocol.ts";
export {
  type ForcedAnswer,
  type RestServer,
  type RestServerOptions,
  restServer,
} from "./rest-server.ts";
export { findServerBinary } from "./server-binary.mjs";
export { type ServerConnection, serverConnection } from "./server-connection.ts";
export { findServerVersions, type ServerVersion } from "./server-versions.mjs";
export { type ScriptProcess, spawnScript } from "./spawn-script.ts";
export { startCluster } from "./start-cluster.ts";
export { type ServerPool, startServers } from "./start-servers.ts";
export { type DelayOptions, type ProxyTarget, type TcpProxy, tcpProxy } from "./tcp-proxy.ts";
