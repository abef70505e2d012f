import type { Expression, MemberExpression, TableConstructorExpression } from "luaparse";
import { compileCall, isCall } from "./calls.ts";
import type { Cell, Evaluate, EvaluateList } from "./frame.ts";
import { compileFunction } from "./functions.ts";
import { globalValue, libraryFunction } from "./library.ts";
import {
  compileBinary,
  compileLength,
  compileNegation,
  type Operand,
  operandError,
} from "./operators.ts";
import type { FunctionScope } from "./scope.ts";
import { UnsupportedLuaError } from "./unsupported.ts";
import { errorAt, firstOf, isTruthy, LuaTable, type LuaValue } from "./values.ts";

/** The line of a node, for error messages. */
export function lineOf(node: { loc?: { start: { line: number } } | undefined }): number {
  return node.loc?.start.line ?? 1;
}

/** Compiles an expression to a closure that gives one value. */
export function compileExpression(node: Expression, scope: FunctionScope): Evaluate {
  switch (node.type) {
    case "StringLiteral":
    case "NumericLiteral":
    case "BooleanLiteral":
      return constant(node.value);
    case "NilLiteral":
      return constant(undefined);
    case "Identifier":
      return compileName(node.name, scope, lineOf(node));
    case "MemberExpression":
      checkLibraryField(node, scope);
      return compileIndex(node.base, constant(node.identifier.name), scope, lineOf(node));
    case "IndexExpression":
      return compileIndex(node.base, compileExpression(node.index, scope), scope, lineOf(node));
    case "CallExpression":
    case "StringCallExpression":
    case "TableCallExpression": {
      const call = compileCall(node, scope);
      return (frame) => firstOf(call(frame));
    }
    case "LogicalExpression":
      return compileLogical(node.operator, node.left, node.right, scope);
    case "UnaryExpression":
      return compileUnary(node.operator, operandOf(node.argument, scope), lineOf(node));
    case "BinaryExpression": {
      const left = operandOf(node.left, scope);
      const binary = compileBinary(node.operator, left, operandOf(node.right, scope), lineOf(node));
      if (binary) return binary;
      throw new UnsupportedLuaError(`the operator ${node.operator}`, lineOf(node));
    }
    case "TableConstructorExpression":
      return compileTable(node, scope);
    case "FunctionDeclaration":
      return compileFunction(node, scope);
    default:
      throw new UnsupportedLuaError(`varargs (...)`, lineOf(node));
  }
}

/** Compiles a list of expressions; a call at its end gives all its values. */
export function compileList(nodes: readonly Expression[], scope: FunctionScope): EvaluateList {
  const last = nodes[nodes.length - 1];
  if (!last || !isCall(last)) {
    return compileSingles(nodes, scope);
  }
  const singles = compileSingles(nodes.slice(0, -1), scope);
  const rest = compileCall(last, scope);
  return (frame) => singles(frame).concat(rest(frame));
}

/** Compiles a list of expressions of which each gives one value. */
export function compileSingles(nodes: readonly Expression[], scope: FunctionScope): EvaluateList {
  const all = nodes.map((node) => compileExpression(node, scope));
  const [a, b, c] = all as [Evaluate, Evaluate, Evaluate];
  // Written out: nearly all lists are that short, and map would cost as much as the work itself.
  switch (all.length) {
    case 0:
      return () => [];
    case 1:
      return (frame) => [a(frame)];
    case 2:
      return (frame) => [a(frame), b(frame)];
    case 3:
      return (frame) => [a(frame), b(frame), c(frame)];
    default:
      return (frame) => all.map((evaluate) => evaluate(frame));
  }
}

/** How error messages call an expression. */
export function labelOf(node: Expression, scope: FunctionScope): string {
  switch (node.type) {
    case "Identifier":
      return `${scope.resolve(node.name)?.kind ?? "global"} '${node.name}'`;
    case "MemberExpression":
      return `${node.indexer === ":" ? "method" : "field"} '${node.identifier.name}'`;
    case "IndexExpression":
      return `field '${node.index.type === "StringLiteral" ? node.index.value : "?"}'`;
    default:
      return "";
  }
}

function operandOf(node: Expression, scope: FunctionScope): Operand {
  return { evaluate: compileExpression(node, scope), label: labelOf(node, scope) };
}

function constant(value: LuaValue): Evaluate {
  return () => value;
}

function compileName(name: string, scope: FunctionScope, line: number): Evaluate {
  const variable = scope.resolve(name);
  if (variable?.kind === "upvalue") {
    const { index } = variable;
    return (frame) => frame.upvalues[index]!.value;
  }
  if (variable) {
    const { slot } = variable;
    return variable.inCell
      ? (frame) => (frame.slots[slot] as Cell).value
      : (frame) => frame.slots[slot] as LuaValue;
  }
  return compileGlobal(name, line);
}

function compileGlobal(name: string, line: number): Evaluate {
  if (name === "KEYS") return (frame) => frame.host.keys;
  if (name === "ARGV") return (frame) => frame.host.argv;
  const value = globalValue(name, line);
  if (value !== undefined) return constant(value);
  return () => {
    throw errorAt(line, `Script attempted to access nonexistent global variable '${name}'`);
  };
}

/** Refuses a field of a library that a real Redis has and this one has not. */
function checkLibraryField(
  { base, identifier, loc }: MemberExpression,
  scope: FunctionScope,
): void {
  if (base.type === "Identifier" && !scope.resolve(base.name)) {
    libraryFunction(base.name, identifier.name, lineOf({ loc }));
  }
}

function compileIndex(
  base: Expression,
  index: Evaluate,
  scope: FunctionScope,
  line: number,
): Evaluate {
  const table = compileExpression(base, scope);
  const label = labelOf(base, scope);
  return (frame) => {
    const value = table(frame);
    if (value instanceof LuaTable) return value.get(index(frame));
    // A string's fields are the string library's, none of which a script can use as a value here.
    if (typeof value === "string") return undefined;
    throw operandError("index", label, value, line);
  };
}

function compileLogical(
  operator: string,
  left: Expression,
  right: Expression,
  scope: FunctionScope,
): Evaluate {
  const a = compileExpression(left, scope);
  const b = compileExpression(right, scope);
  const pick = operator === "and";
  return (frame) => {
    const value = a(frame);
    return isTruthy(value) === pick ? b(frame) : value;
  };
}

function compileUnary(operator: string, operand: Operand, line: number): Evaluate {
  if (operator === "-") return compileNegation(operand, line);
  if (operator === "#") return compileLength(operand, line);
  if (operator !== "not") throw new UnsupportedLuaError(`the operator ${operator}`, line);
  const { evaluate } = operand;
  return (frame) => !isTruthy(evaluate(frame));
}

function compileTable(node: TableConstructorExpression, scope: FunctionScope): Evaluate {
  const positional = node.fields.flatMap((field) =>
    field.type === "TableValue" ? [field.value] : [],
  );
  const list = compileList(positional, scope);
  const named = node.fields.flatMap((field): [Evaluate, Evaluate][] => {
    if (field.type === "TableValue") return [];
    const key =
      field.type === "TableKeyString"
        ? constant(field.key.name)
        : compileExpression(field.key, scope);
    return [[key, compileExpression(field.value, scope)]];
  });
  const line = lineOf(node);
  return (frame) => {
    const table = new LuaTable(list(frame));
    for (const [key, value] of named) {
      assignField(table, key(frame), value(frame), line);
    }
    return table;
  };
}

/** Sets a field of a table as a script does. */
export function assignField(table: LuaTable, key: LuaValue, value: LuaValue, line: number): void {
  if (table.readonly) throw errorAt(line, "Attempt to modify a readonly table");
  if (key === undefined) throw errorAt(line, "table index is nil");
  if (Number.isNaN(key)) throw errorAt(line, "table index is NaN");
  table.set(key, value);
}
