import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of this repository. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** A path inside the repository. */
export const inRepository = (...parts) => join(root, ...parts);

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
