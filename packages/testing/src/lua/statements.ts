import type { AssignmentStatement, IfStatement, LocalStatement, Statement } from "luaparse";
import { compileCall, isCall } from "./calls.ts";
import {
  assignField,
  compileExpression,
  compileList,
  compileSingles,
  labelOf,
  lineOf,
} from "./expressions.ts";
import {
  BREAK,
  Cell,
  type Evaluate,
  type EvaluateList,
  type Execute,
  type Frame,
  NEXT,
  RETURN,
} from "./frame.ts";
import { compileBlock, compileFunction } from "./functions.ts";
import { compileGenericFor, compileNumericFor, compileRepeat, compileWhile } from "./loops.ts";
import { operandError } from "./operators.ts";
import type { FunctionScope, Local } from "./scope.ts";
import { UnsupportedLuaError } from "./unsupported.ts";
import { errorAt, isTruthy, LuaTable, type LuaValue } from "./values.ts";

/** Sets a variable or a field to a value. */
type Assign = (frame: Frame, value: LuaValue) => void;

/** Compiles a statement. */
export function compileStatement(node: Statement, scope: FunctionScope): Execute {
  switch (node.type) {
    case "LocalStatement":
      return compileLocal(node, scope);
    case "AssignmentStatement":
      return compileAssignment(node, scope);
    case "CallStatement": {
      const call = compileCall(node.expression, scope);
      return (frame) => {
        call(frame);
        return NEXT;
      };
    }
    case "IfStatement":
      return compileIf(node, scope);
    case "ReturnStatement":
      return compileReturn(node.arguments, scope);
    case "BreakStatement":
      return () => BREAK;
    case "DoStatement":
      return compileBlock(node.body, scope);
    case "WhileStatement":
      return compileWhile(node, scope);
    case "RepeatStatement":
      return compileRepeat(node, scope);
    case "ForNumericStatement":
      return compileNumericFor(node, scope);
    case "ForGenericStatement":
      return compileGenericFor(node, scope);
    case "FunctionDeclaration":
      return compileNamedFunction(node, scope);
    default:
      throw new UnsupportedLuaError("goto", lineOf(node));
  }
}

/** Gives a freshly declared local its first value. */
export function initialize({ slot, inCell }: Local): Assign {
  return inCell
    ? (frame, value) => {
        frame.slots[slot] = new Cell(value);
      }
    : (frame, value) => {
        frame.slots[slot] = value;
      };
}

function compileLocal(node: LocalStatement, scope: FunctionScope): Execute {
  const [only] = node.init;
  if (node.variables.length === 1 && node.init.length < 2) {
    // The value is compiled before the name is declared: in `local x = x` the right x is an outer one.
    const value: Evaluate = only ? compileExpression(only, scope) : () => undefined;
    const set = initialize(scope.declare(node.variables[0]!.name));
    return (frame) => {
      set(frame, value(frame));
      return NEXT;
    };
  }
  const values = compileValues(node, scope);
  const sets = node.variables.map((variable) => initialize(scope.declare(variable.name)));
  return assignAll(sets, values);
}

function compileAssignment(node: AssignmentStatement, scope: FunctionScope): Execute {
  const sets = node.variables.map((variable) => compileTarget(variable, scope));
  const [set] = sets;
  const [only] = node.init;
  if (set && only && sets.length === 1 && node.init.length === 1) {
    const value = compileExpression(only, scope);
    return (frame) => {
      set(frame, value(frame));
      return NEXT;
    };
  }
  return assignAll(sets, compileValues(node, scope));
}

/** The right side: with a value for each variable, none needs more than one of a call's results. */
function compileValues(
  { variables, init }: LocalStatement | AssignmentStatement,
  scope: FunctionScope,
): EvaluateList {
  return init.length === variables.length ? compileSingles(init, scope) : compileList(init, scope);
}

function assignAll(sets: readonly Assign[], values: EvaluateList): Execute {
  return (frame) => {
    const all = values(frame);
    for (let index = 0; index < sets.length; index++) {
      sets[index]!(frame, all[index]);
    }
    return NEXT;
  };
}

function compileTarget(
  node: AssignmentStatement["variables"][number],
  scope: FunctionScope,
): Assign {
  const line = lineOf(node);
  if (node.type === "Identifier") {
    return compileVariable(node.name, scope, line);
  }
  const base = compileExpression(node.base, scope);
  const label = labelOf(node.base, scope);
  const { name } = node.type === "MemberExpression" ? node.identifier : { name: "" };
  const key: Evaluate =
    node.type === "MemberExpression" ? () => name : compileExpression(node.index, scope);
  return (frame, value) => {
    const table = base(frame);
    if (!(table instanceof LuaTable)) throw operandError("index", label, table, line);
    assignField(table, key(frame), value, line);
  };
}

function compileVariable(name: string, scope: FunctionScope, line: number): Assign {
  const variable = scope.resolve(name);
  if (!variable) {
    return () => {
      throw errorAt(line, "Attempt to modify a readonly table");
    };
  }
  if (variable.kind === "upvalue") {
    return (frame, value) => {
      frame.upvalues[variable.index]!.value = value;
    };
  }
  const { slot, inCell } = variable;
  return inCell
    ? (frame, value) => {
        (frame.slots[slot] as Cell).value = value;
      }
    : (frame, value) => {
        frame.slots[slot] = value;
      };
}

function compileIf(node: IfStatement, scope: FunctionScope): Execute {
  const clauses = node.clauses.map((clause): [Evaluate, Execute] => {
    const condition: Evaluate =
      clause.type === "ElseClause" ? () => true : compileExpression(clause.condition, scope);
    return [condition, compileBlock(clause.body, scope)];
  });
  return (frame) => {
    for (const [condition, body] of clauses) {
      if (isTruthy(condition(frame))) return body(frame);
    }
    return NEXT;
  };
}

function compileReturn(
  nodes: Extract<Statement, { type: "ReturnStatement" }>["arguments"],
  scope: FunctionScope,
): Execute {
  const [only] = nodes;
  const values =
    only && nodes.length === 1
      ? isCall(only)
        ? compileCall(only, scope)
        : compileExpression(only, scope)
      : compileList(nodes, scope);
  return (frame) => {
    frame.result = values(frame);
    return RETURN;
  };
}

function compileNamedFunction(
  node: Extract<Statement, { type: "FunctionDeclaration" }>,
  scope: FunctionScope,
): Execute {
  const { identifier } = node;
  // A local function sees itself, so that it can recurse: its name is declared (and its cell made) first.
  const local =
    node.isLocal && identifier?.type === "Identifier" ? scope.declare(identifier.name) : undefined;
  const create = compileFunction(node, scope);
  const first = local && initialize(local);
  const set = compileTarget(identifier!, scope);
  return (frame) => {
    first?.(frame, undefined);
    set(frame, create(frame));
    return NEXT;
  };
}
