import type { Host, LuaResult, LuaValue } from "./values.ts";

/** A local variable that several functions share. */
export class Cell {
  value: LuaValue;

  constructor(value: LuaValue) {
    this.value = value;
  }
}

/** One running function. */
export class Frame {
  readonly slots: (LuaValue | Cell)[];
  readonly upvalues: readonly Cell[];
  readonly host: Host;
  /** What `return` gave. */
  result: LuaResult = undefined;

  constructor(size: number, upvalues: readonly Cell[], host: Host) {
    this.slots = new Array(size);
    this.upvalues = upvalues;
    this.host = host;
  }
}

/** A compiled expression. */
export type Evaluate = (frame: Frame) => LuaValue;
/** A compiled call: any number of values. */
export type EvaluateAll = (frame: Frame) => LuaResult;
/** A compiled expression list, e.g. a call's arguments. */
export type EvaluateList = (frame: Frame) => LuaValue[];

export const NEXT = 0;
export const BREAK = 1;
export const RETURN = 2;
/** How a statement ended. */
export type Completion = typeof NEXT | typeof BREAK | typeof RETURN;
/** A compiled statement. */
export type Execute = (frame: Frame) => Completion;
