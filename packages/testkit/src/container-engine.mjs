import { existsSync } from "node:fs";
import { request } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";

// Plain JavaScript, because scripts/ uses it before anything is installed.

/**
 * Says whether a container engine answers a ping in time. A client without a daemon is common, so
 * finding `docker` on PATH says nothing; the engine itself is asked.
 */
export async function containerEngineAnswers(timeoutMs = 2_000) {
  const answers = await Promise.all(engineAddresses().map((address) => pings(address, timeoutMs)));
  return answers.includes(true);
}

function engineAddresses() {
  const declared = process.env.DOCKER_HOST;
  if (declared?.startsWith("unix://"))
    return [{ socketPath: declared.slice("unix://".length), host: "localhost" }];
  if (declared) {
    const { hostname, port } = new URL(declared.replace(/^tcp:/, "http:"));
    return [{ host: hostname, port: Number(port || 2375) }];
  }
  const sockets = [
    "/var/run/docker.sock",
    join(homedir(), ".docker/run/docker.sock"),
    join(homedir(), ".docker/desktop/docker.sock"),
    join(process.env.XDG_RUNTIME_DIR ?? "/nowhere", "docker.sock"),
  ];
  return sockets
    .filter((path) => existsSync(path))
    .map((path) => ({ socketPath: path, host: "localhost" }));
}

function pings(address, timeoutMs) {
  return new Promise((resolve) => {
    const ping = request({ ...address, path: "/_ping", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    // A timer of its own: the request's `timeout` option only counts idle time after the connect.
    const timer = setTimeout(() => ping.destroy(), timeoutMs);
    ping.on("close", () => {
      clearTimeout(timer);
      resolve(false);
    });
    ping.on("error", () => resolve(false));
    ping.end();
  });
}
