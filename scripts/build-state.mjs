import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { inRepository, readJson } from "./repository.mjs";

/** Whether a package's built modules are missing or older than its sources. */
export function isStale(name) {
  const directory = inRepository("packages", name);
  const sources = filesIn(join(directory, "src"));
  const newest = Math.max(...[join(directory, "package.json"), ...sources].map(changedAt));
  return builtModules(name).some((path) => changedAt(join(directory, path)) < newest);
}

/** Says that a package is built now: a build taken from turbo's cache keeps its old dates. */
export function markBuilt(name) {
  const now = new Date();
  for (const path of builtModules(name)) utimesSync(inRepository("packages", name, path), now, now);
}

/** The sources that a package's published modules are built from, as esbuild takes them: `name=source`. */
export function sourceEntries(name) {
  return builtModules(name).map((path) => {
    const module = path.replace("./dist/", "").replace(/\.js$/, "");
    // A big one is a folder. Its name stays outside, or it would be built into a folder, too.
    const source = [`src/${module}.ts`, `src/${module}/index.ts`].find((file) =>
      existsSync(inRepository("packages", name, file)),
    );
    if (!source) throw new Error(`${name}: no source of ${path}`);
    return `${module}=${source}`;
  });
}

/** What a package's own description promises: `./dist/index.js` and the like. */
function builtModules(name) {
  const { exports, bin } = readJson(inRepository("packages", name, "package.json"));
  const promised = JSON.stringify([exports, bin]).match(/\.\/dist\/[^"]+(?<!\.d)\.js(?=")/g);
  return [...new Set(promised)];
}

function filesIn(directory) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function changedAt(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}
