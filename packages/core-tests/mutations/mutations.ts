import type { Mutation } from "./mutation.ts";
import { ACQUIRING } from "./rules/acquiring.ts";
import { CLEARING_UP } from "./rules/clearing-up.ts";
import { EXTENDING } from "./rules/extending.ts";
import { LOSING } from "./rules/losing.ts";
import { WAITING } from "./rules/waiting.ts";

/** All rules that are switched off one by one. */
export const MUTATIONS: readonly Mutation[] = [
  ...ACQUIRING,
  ...CLEARING_UP,
  ...EXTENDING,
  ...LOSING,
  ...WAITING,
];
