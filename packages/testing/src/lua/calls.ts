import type {
  CallExpression,
  Expression,
  MemberExpression,
  StringCallExpression,
  TableCallExpression,
} from "luaparse";
import { compileExpression, compileList, labelOf, lineOf } from "./expressions.ts";
import type { EvaluateAll } from "./frame.ts";
import { libraryFunction, stringMethod } from "./library.ts";
import { operandError } from "./operators.ts";
import type { FunctionScope } from "./scope.ts";
import { LuaTable, type LuaValue } from "./values.ts";

type Call = CallExpression | StringCallExpression | TableCallExpression;

export function isCall(node: Expression): node is Call {
  return (
    node.type === "CallExpression" ||
    node.type === "StringCallExpression" ||
    node.type === "TableCallExpression"
  );
}

/** Compiles a call to a closure that gives all its values. */
export function compileCall(node: Call, scope: FunctionScope): EvaluateAll {
  const { base } = node;
  const line = lineOf(node);
  if (base.type === "MemberExpression" && base.indexer === ":") {
    return compileMethodCall(base, argumentsOf(node), scope, line);
  }
  const args = compileList(argumentsOf(node), scope);
  const known = knownFunction(base, scope, line);
  if (known) {
    return (frame) => {
      const values = args(frame);
      frame.host.line = line;
      return known(values, frame.host);
    };
  }
  const callee = compileExpression(base, scope);
  const label = labelOf(base, scope);
  return (frame) => {
    const value = callee(frame);
    const values = args(frame);
    if (typeof value !== "function") throw operandError("call", label, value, line);
    frame.host.line = line;
    return value(values, frame.host);
  };
}

function argumentsOf(node: Call): Expression[] {
  if (node.type === "CallExpression") return node.arguments;
  return [node.type === "StringCallExpression" ? node.argument : node.arguments];
}

/** `redis.call`, `math.min`, …: libraries are read-only, so the function is known while compiling. */
function knownFunction(base: Expression, scope: FunctionScope, line: number) {
  if (base.type !== "MemberExpression" || base.base.type !== "Identifier") return undefined;
  const library = base.base.name;
  return scope.resolve(library) ? undefined : libraryFunction(library, base.identifier.name, line);
}

function compileMethodCall(
  base: MemberExpression,
  argumentNodes: Expression[],
  scope: FunctionScope,
  line: number,
): EvaluateAll {
  const { name } = base.identifier;
  const self = compileExpression(base.base, scope);
  const args = compileList(argumentNodes, scope);
  const label = labelOf(base.base, scope);
  const methodOf = (value: LuaValue) => {
    if (typeof value === "string") return stringMethod(name, line);
    if (value instanceof LuaTable) return value.get(name);
    throw operandError("index", label, value, line);
  };
  return (frame) => {
    const value = self(frame);
    const method = methodOf(value);
    const values = args(frame);
    if (typeof method !== "function") throw operandError("call", `method '${name}'`, method, line);
    frame.host.line = line;
    return method([value, ...values], frame.host);
  };
}
