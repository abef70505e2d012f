import type {
  Expression,
  ForGenericStatement,
  ForNumericStatement,
  RepeatStatement,
  WhileStatement,
} from "luaparse";
import { compileExpression, lineOf } from "./expressions.ts";
import { type Completion, type Evaluate, type Execute, NEXT, RETURN } from "./frame.ts";
import { compileBlock, compileBody } from "./functions.ts";
import type { FunctionScope } from "./scope.ts";
import { initialize } from "./statements.ts";
import { UnsupportedLuaError } from "./unsupported.ts";
import { errorAt, isTruthy, LuaTable, type LuaValue, toNumber, typeName } from "./values.ts";

export function compileWhile(node: WhileStatement, scope: FunctionScope): Execute {
  const condition = compileExpression(node.condition, scope);
  const body = compileBlock(node.body, scope);
  return (frame) => {
    while (isTruthy(condition(frame))) {
      const completion = body(frame);
      if (completion !== NEXT) return afterLoop(completion);
    }
    return NEXT;
  };
}

export function compileRepeat(node: RepeatStatement, scope: FunctionScope): Execute {
  // The condition still sees the body's locals.
  const [body, condition] = scope.block((): [Execute, Evaluate] => [
    compileBody(node.body, scope),
    compileExpression(node.condition, scope),
  ]);
  return (frame) => {
    do {
      const completion = body(frame);
      if (completion !== NEXT) return afterLoop(completion);
    } while (!isTruthy(condition(frame)));
    return NEXT;
  };
}

export function compileNumericFor(node: ForNumericStatement, scope: FunctionScope): Execute {
  const line = lineOf(node);
  const start = compileBound(node.start, "initial", scope, line);
  const end = compileBound(node.end, "limit", scope, line);
  const step = node.step ? compileBound(node.step, "step", scope, line) : () => 1;
  return scope.block(() => {
    const set = initialize(scope.declare(node.variable.name));
    const body = compileBlock(node.body, scope);
    return (frame) => {
      const from = start(frame);
      const to = end(frame);
      const by = step(frame);
      for (let value = from; by > 0 ? value <= to : value >= to; value += by) {
        set(frame, value);
        const completion = body(frame);
        if (completion !== NEXT) return afterLoop(completion);
        // Lua never ends here; a node that hangs for good helps nobody.
        if (by === 0) throw errorAt(line, "'for' step is zero");
      }
      return NEXT;
    };
  });
}

/** `for … in ipairs(t)` and `pairs(t)`. */
export function compileGenericFor(node: ForGenericStatement, scope: FunctionScope): Execute {
  const line = lineOf(node);
  const { name, subject } = iterationOf(node, scope);
  const evaluate: Evaluate = subject ? compileExpression(subject, scope) : () => undefined;
  const visit = name === "ipairs" ? visitList : visitAll;
  return scope.block(() => {
    const [setKey, setValue] = node.variables.map(({ name }) => initialize(scope.declare(name)));
    const body = compileBlock(node.body, scope);
    return (frame) => {
      const table = evaluate(frame);
      if (!(table instanceof LuaTable)) {
        const got = subject ? typeName(table) : "no value";
        throw errorAt(line, `bad argument #1 to '${name}' (table expected, got ${got})`);
      }
      const completion = visit(table, (key, value) => {
        setKey!(frame, key);
        setValue?.(frame, value);
        return body(frame);
      });
      return afterLoop(completion);
    };
  });
}

type Visit = (key: LuaValue, value: LuaValue) => Completion;

function visitList({ list }: LuaTable, visit: Visit): Completion {
  for (let index = 0; index < list.length && list[index] !== undefined; index++) {
    const completion = visit(index + 1, list[index]);
    if (completion !== NEXT) return completion;
  }
  return NEXT;
}

function visitAll({ list, hash }: LuaTable, visit: Visit): Completion {
  for (let index = 0; index < list.length; index++) {
    if (list[index] === undefined) continue;
    const completion = visit(index + 1, list[index]);
    if (completion !== NEXT) return completion;
  }
  for (const [key, value] of hash ?? []) {
    const completion = visit(key, value);
    if (completion !== NEXT) return completion;
  }
  return NEXT;
}

function iterationOf(node: ForGenericStatement, scope: FunctionScope) {
  const [iterator, ...others] = node.iterators;
  if (
    iterator?.type === "CallExpression" &&
    iterator.base.type === "Identifier" &&
    /^i?pairs$/.test(iterator.base.name) &&
    !scope.resolve(iterator.base.name) &&
    others.length === 0
  ) {
    const subject: Expression | undefined = iterator.arguments[0];
    return { name: iterator.base.name, subject };
  }
  throw new UnsupportedLuaError("a for loop over anything but ipairs() or pairs()", lineOf(node));
}

function compileBound(node: Expression, role: string, scope: FunctionScope, line: number) {
  const evaluate = compileExpression(node, scope);
  const word = role === "initial" ? "initial value" : role;
  return (frame: Parameters<Evaluate>[0]): number => {
    const number = toNumber(evaluate(frame));
    if (number === undefined) throw errorAt(line, `'for' ${word} must be a number`);
    return number;
  };
}

function afterLoop(completion: Completion): Completion {
  return completion === RETURN ? RETURN : NEXT;
}
