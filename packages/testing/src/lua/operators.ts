import type { Evaluate } from "./frame.ts";
import {
  errorAt,
  type LuaError,
  LuaTable,
  type LuaValue,
  toNumber,
  toText,
  typeName,
} from "./values.ts";

/** How an operand is called in error messages, e.g. `local 'x'`; empty when it has no name. */
export interface Operand {
  readonly evaluate: Evaluate;
  readonly label: string;
}

type Arithmetic = (left: number, right: number) => number;

const arithmetic: Record<string, Arithmetic> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "^": (left, right) => left ** right,
  "%": (left, right) => left - Math.floor(left / right) * right,
};

/** Compiles a binary operator; undefined: not one of Lua 5.1's. */
export function compileBinary(
  operator: string,
  left: Operand,
  right: Operand,
  line: number,
): Evaluate | undefined {
  const compute = arithmetic[operator];
  if (compute) {
    return compileArithmetic(compute, left, right, line);
  }
  const a = left.evaluate;
  const b = right.evaluate;
  switch (operator) {
    case "==":
      return (frame) => a(frame) === b(frame);
    case "~=":
      return (frame) => a(frame) !== b(frame);
    case "<":
      return (frame) => isLess(a(frame), b(frame), line);
    case "<=":
      return (frame) => isLessOrEqual(a(frame), b(frame), line);
    case ">":
      return (frame) => isGreater(a(frame), b(frame), line);
    case ">=":
      return (frame) => isGreaterOrEqual(a(frame), b(frame), line);
    case "..":
      return compileConcat(left, right, line);
    default:
      return undefined;
  }
}

/** Compiles `-x`. */
export function compileNegation({ evaluate, label }: Operand, line: number): Evaluate {
  return (frame) => {
    const value = evaluate(frame);
    const number = toNumber(value);
    if (number === undefined) {
      throw operandError("perform arithmetic on", label, value, line);
    }
    return -number;
  };
}

/** Compiles `#x`. */
export function compileLength({ evaluate, label }: Operand, line: number): Evaluate {
  return (frame) => {
    const value = evaluate(frame);
    if (typeof value === "string") return value.length;
    if (value instanceof LuaTable) return value.list.length;
    throw operandError("get length of", label, value, line);
  };
}

/** `attempt to index local 'x' (a nil value)`. */
export function operandError(
  attempt: string,
  label: string,
  value: LuaValue,
  line: number,
): LuaError {
  const kind = `a ${typeName(value)} value`;
  return errorAt(line, `attempt to ${attempt} ${label ? `${label} (${kind})` : kind}`);
}

function compileArithmetic(
  compute: Arithmetic,
  left: Operand,
  right: Operand,
  line: number,
): Evaluate {
  const coerce = (a: LuaValue, b: LuaValue) => {
    const x = toNumber(a);
    const y = toNumber(b);
    if (x === undefined) throw operandError("perform arithmetic on", left.label, a, line);
    if (y === undefined) throw operandError("perform arithmetic on", right.label, b, line);
    return compute(x, y);
  };
  return (frame) => {
    const a = left.evaluate(frame);
    const b = right.evaluate(frame);
    return typeof a === "number" && typeof b === "number" ? compute(a, b) : coerce(a, b);
  };
}

function compileConcat(left: Operand, right: Operand, line: number): Evaluate {
  return (frame) => {
    const a = left.evaluate(frame);
    const b = right.evaluate(frame);
    if (typeof a === "string" && typeof b === "string") return a + b;
    const x = toText(a);
    const y = toText(b);
    if (x === undefined) throw operandError("concatenate", left.label, a, line);
    if (y === undefined) throw operandError("concatenate", right.label, b, line);
    return x + y;
  };
}

function areComparable(a: LuaValue, b: LuaValue): boolean {
  return (
    (typeof a === "number" && typeof b === "number") ||
    (typeof a === "string" && typeof b === "string")
  );
}

function isLess(a: LuaValue, b: LuaValue, line: number): boolean {
  if (!areComparable(a, b)) throw comparisonError(a, b, line);
  return a! < b!;
}

function isLessOrEqual(a: LuaValue, b: LuaValue, line: number): boolean {
  if (!areComparable(a, b)) throw comparisonError(a, b, line);
  return a! <= b!;
}

// Lua turns a > b into b < a, which shows in the message.
function isGreater(a: LuaValue, b: LuaValue, line: number): boolean {
  if (!areComparable(a, b)) throw comparisonError(b, a, line);
  return a! > b!;
}

function isGreaterOrEqual(a: LuaValue, b: LuaValue, line: number): boolean {
  if (!areComparable(a, b)) throw comparisonError(b, a, line);
  return a! >= b!;
}

function comparisonError(a: LuaValue, b: LuaValue, line: number): LuaError {
  const [left, right] = [typeName(a), typeName(b)];
  const values = left === right ? `two ${left} values` : `${left} with ${right}`;
  return errorAt(line, `attempt to compare ${values}`);
}
