import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { reasonPath, serverVersions } from "../packages/testkit/src/server-versions.mjs";
import { main, output, works } from "./command.mjs";

const execute = promisify(execFile);

/** For one call of apt: a mirror that does not answer must not hold up `npm test`. */
const LIMIT_MS = 120_000;

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/**
 * Unpacks the other servers that the memory node is compared with into .cache/redis-versions, as root or
 * not: packages of other Debian releases, from the mirror that this machine's own sources name, run by
 * their own loader and C library. Installs nothing, starts nothing. One that cannot be had is said so, with
 * the reason, and fails nothing.
 */
export async function getServerVersions() {
  await Promise.all(serverVersions.map(getServer));
  for (const { name, suite, launcher } of serverVersions.filter(isHere)) {
    console.log(`${name}: ${versionOf(launcher)} (Debian ${suite})`);
  }
}

const isHere = ({ launcher }) => existsSync(launcher);

const versionOf = (program) => output(program, ["--version"]).trim();

async function getServer(version) {
  if (isHere(version)) return;
  const reason = reasonPath(version);
  try {
    mkdirSync(dirname(reason), { recursive: true });
    await unpack(version);
    rmSync(reason, { force: true });
  } catch (error) {
    const lines = String(error.stderr || error.message || error).trim();
    rmSync(`${version.directory}.new`, { recursive: true, force: true });
    writeFileSync(reason, `${lines.split("\n").at(-1)}\n`);
    console.warn(`${version.name}: cannot be had (Debian ${version.suite}): ${lines}`);
  }
}

async function unpack(version) {
  const mirror = debianMirror();
  // Beside its place: what is in its place is complete.
  const work = `${version.directory}.new`;
  for (const folder of [work, version.directory]) rmSync(folder, { recursive: true, force: true });
  const apt = privateApt(work, mirror, version.suite);
  await execute("apt-get", [...apt, "-qq", "update"], { timeout: LIMIT_MS });
  const install = ["-qq", "-y", "--no-install-recommends", "--download-only", "install"];
  await execute("apt-get", [...apt, ...install, version.package], { timeout: LIMIT_MS });
  const archives = join(work, "cache/archives");
  // The server and libraries, not what would set up a machine.
  const wanted = new RegExp(`^(lib|lua-|zlib|${version.package}).*\\.deb$`);
  for (const name of readdirSync(archives).filter((archive) => wanted.test(archive))) {
    await execute("dpkg-deb", ["-x", join(archives, name), join(work, "root")]);
  }
  for (const folder of ["state", "cache"]) rmSync(join(work, folder), { recursive: true });
  const launcher = join(work, "redis-server");
  writeFileSync(launcher, launcherOf(work, version.program));
  chmodSync(launcher, 0o755);
  versionOf(launcher);
  renameSync(work, version.directory);
}

/** `…/debian/`, as this machine's sources name it for its own release. */
function debianMirror() {
  for (const program of ["apt-get", "dpkg-deb"]) {
    if (!works(program, ["--version"])) throw new Error(`needs Debian's ${program}`);
  }
  const uris = output("apt-get", ["--print-uris", "update"]);
  const mirror = /^'([^']+\/debian\/?)\/dists\/[^']+'/m.exec(uris);
  if (!mirror) throw new Error("the sources of apt name no mirror of Debian");
  return mirror[1];
}

/** Options by which apt works in a folder of its own, for a machine on which nothing is installed. */
function privateApt(work, mirror, suite) {
  for (const folder of ["state/lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  const sources = join(work, "state/sources.list");
  const signed = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : "";
  writeFileSync(sources, `deb ${signed}${mirror} ${suite} main\n`);
  writeFileSync(join(work, "state/status"), "");
  const settings = {
    "Dir::Etc::sourcelist": sources,
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::Etc::preferences": "/dev/null",
    "Dir::Etc::preferencesparts": "/dev/null",
    "Dir::State": join(work, "state"),
    "Dir::State::status": join(work, "state/status"),
    "Dir::Cache": join(work, "cache"),
    "Debug::NoLocking": "1",
    "APT::Sandbox::User": "",
    "APT::Update::Error-Mode": "any",
    "Acquire::Languages": "none",
    "Acquire::GzipIndexes": "true",
    "Acquire::http::Timeout": "15",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

function launcherOf(work, program) {
  const folders = ["usr/lib", "lib", "usr/lib64", "lib64"]
    .map((folder) => join(work, "root", folder))
    .filter(existsSync);
  const libraries = folders.flatMap((folder) => [
    folder,
    ...readdirSync(folder)
      .filter((name) => /-linux-gnu/.test(name))
      .map((name) => join(folder, name)),
  ]);
  const loader = libraries.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^ld-linux.*\.so/.test(name))
      .map((name) => join(folder, name)),
  )[0];
  if (!loader) throw new Error("its C library has no loader here");
  // The program looks at the name it is called by; see redis-server.mjs.
  symlinkSync(program, join(work, "root/usr/bin/redis-server"));
  const here = (path) => `"$here/${relative(work, path)}"`;
  // exec keeps the process id, which the tests send their signals to.
  return `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
exec ${here(loader)} --library-path ${libraries.map(here).join(":")} "$here/root/usr/bin/redis-server" "$@"
`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  await main(async () => {
    await getServerVersions();
    return 0;
  });
}
