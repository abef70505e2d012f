import { fileURLToPath } from "node:url";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export const repository = path("../../..");
export const here = path("..");
/** A project as a user has it: the packages as they are packed, and the drivers. */
export const consumer = path("../.cache/consumer");
