import { readFileSync } from "node:fs";

const manifest = new URL("../package.json", import.meta.url);

/** This package's version. Its manifest is one folder up, from the sources and from the bundle. */
export const version: string = JSON.parse(readFileSync(manifest, "utf8")).version;
