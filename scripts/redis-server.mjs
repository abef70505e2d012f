import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { containerEngineAnswers } from "../packages/testkit/src/container-engine.mjs";
import { findServerBinary, privateServerBinary } from "../packages/testkit/src/server-binary.mjs";
import { Failure, main, output, works } from "./command.mjs";

const cacheDirectory = dirname(privateServerBinary);

// Never Debian's package `redis-server`: it starts a service on port 6379. The program itself is inside
// `redis-tools`, where redis-check-rdb is the same program, which looks at the name it is called by.
const SAME_PROGRAM = "redis-check-rdb";

/**
 * Makes sure that the tests can start real servers, and says of which kind: `containers` or `local`.
 *
 * Where a container engine answers, servers are containers; a server program is wanted even there, since
 * the nodes of a cluster are local processes. Order: a program on PATH, the system's package manager (as
 * root or in CI), packages unpacked into .cache/redis without root. None of these leaves a server running.
 */
export async function ensureServer() {
  const forced = process.env.REDLATCH_SERVERS;
  const containers =
    forced === "containers" || (forced !== "local" && (await containerEngineAnswers()));
  try {
    console.log(`server program: ${findServerBinary() ?? getServerBinary()}`);
  } catch (error) {
    if (!containers || !(error instanceof Failure)) throw error;
    console.error(`${error.message}\n(Only tests with a cluster will fail without it.)`);
  }
  return containers ? "containers" : "local";
}

function getServerBinary() {
  const ways = [linkSameProgram, installWithSystem, unpackDebianPackages, installWithBrew];
  const failures = [];
  for (const way of ways) {
    try {
      const binary = way();
      if (binary) return binary;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error.message);
    }
  }
  throw new Failure([...failures, NO_SERVER].join("\n"));
}

const NO_SERVER = `No Redis server for the tests. Install one (it need not run), for instance:
  Debian, Ubuntu   sudo apt-get install redis-tools
  Fedora           sudo dnf install valkey
  Alpine           apk add redis
  macOS            brew install redis
or name a server program: REDLATCH_REDIS_SERVER=<path> npm test`;

function linkSameProgram() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const program = folders.map((folder) => join(folder, SAME_PROGRAM)).find(existsSync);
  if (!program) return undefined;
  replacePrivateBinary((path) => symlinkSync(program, path));
  return findServerBinary();
}

function installWithSystem() {
  const root = process.getuid?.() === 0;
  if (!root && !process.env.CI) return undefined;
  const asRoot = root ? [] : ["sudo", "-n"];
  const install = (...command) => {
    const [program, ...args] = [...asRoot, ...command];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    output(program, args, { env });
  };
  if (!root && !works("sudo", ["-n", "true"])) return undefined;
  if (works("apt-get", ["--version"])) {
    const wait = ["-o", "DPkg::Lock::Timeout=120"];
    const packages = ["install", "-y", "--no-install-recommends", ...wait, "redis-tools"];
    try {
      install("apt-get", ...packages);
    } catch {
      // A fresh image has no package lists, an old one outdated lists.
      install("apt-get", "update");
      install("apt-get", ...packages);
    }
    return linkSameProgram();
  }
  if (works("apk", ["--version"])) install("apk", "add", "--no-cache", "redis");
  else if (works("dnf", ["--version"])) install("dnf", "install", "-y", "valkey");
  return findServerBinary();
}

function unpackDebianPackages() {
  if (!works("apt-get", ["--version"]) || !works("dpkg-deb", ["--version"])) return undefined;
  mkdirSync(cacheDirectory, { recursive: true });
  const download = join(cacheDirectory, "download");
  const root = join(cacheDirectory, "root");
  for (const folder of [download, root]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(download, { recursive: true });
  const options = { cwd: download };
  try {
    output("apt-get", ["download", ...missingPackages([])], options);
  } catch {
    // Lists of our own: only root may refresh the system's.
    const own = privateLists();
    output("apt-get", [...own, "update"], options);
    output("apt-get", [...own, "download", ...missingPackages(own)], options);
  }
  const archives = output("ls", [download]).split("\n").filter(Boolean);
  for (const archive of archives) output("dpkg-deb", ["-x", join(download, archive), root]);
  rmSync(download, { recursive: true, force: true });
  replacePrivateBinary((path) => {
    // exec keeps the process id, which the tests send their signals to.
    writeFileSync(path, UNPACKED_LAUNCHER);
    chmodSync(path, 0o755);
  });
  if (works(privateServerBinary, ["--version"])) return privateServerBinary;
  rmSync(privateServerBinary, { force: true });
  throw new Failure("the unpacked redis-server does not run here");
}

const UNPACKED_LAUNCHER = `#!/bin/sh
root=$(dirname "$0")/root
for folder in "$root"/usr/lib/*-linux-* "$root"/lib/*-linux-*; do libraries=$libraries:$folder; done
ln -sf ${SAME_PROGRAM} "$root/usr/bin/redis-server"
LD_LIBRARY_PATH=\${libraries#:} exec "$root/usr/bin/redis-server" "$@"
`;

function privateLists() {
  const lists = join(cacheDirectory, "lists");
  for (const part of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(lists, part), { recursive: true });
  return [
    ...["-o", `Dir::State::Lists=${join(lists, "state/lists")}`],
    ...["-o", `Dir::Cache=${join(lists, "cache")}`],
  ];
}

/** redis-tools and what it needs, without what this machine has. */
function missingPackages(aptOptions) {
  const kinds = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"];
  const only = kinds.map((kind) => `--no-${kind}`);
  const tree = output("apt-cache", [...aptOptions, "depends", "--recurse", ...only, "redis-tools"]);
  const names = tree.split("\n").filter((line) => /^[a-z0-9]/.test(line));
  const isMissing = (name) => !works("dpkg-query", ["-W", name]);
  return names.filter((name) => name === "redis-tools" || isMissing(name));
}

function installWithBrew() {
  if (process.platform !== "darwin" || !works("brew", ["--version"])) return undefined;
  output("brew", ["install", "redis"]);
  return findServerBinary();
}

function replacePrivateBinary(write) {
  mkdirSync(cacheDirectory, { recursive: true });
  rmSync(privateServerBinary, { force: true });
  write(privateServerBinary);
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  await main(async () => {
    console.log(`real servers: ${await ensureServer()}`);
    return 0;
  });
}
