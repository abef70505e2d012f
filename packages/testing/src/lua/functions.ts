import type { FunctionDeclaration, Statement } from "luaparse";
import { Cell, type Evaluate, type Execute, Frame, NEXT, RETURN } from "./frame.ts";
import { FunctionScope } from "./scope.ts";
import { compileStatement } from "./statements.ts";
import { UnsupportedLuaError } from "./unsupported.ts";
import type { LuaFunction, LuaValue } from "./values.ts";

/** Compiles a function to a closure that creates it. */
export function compileFunction(node: FunctionDeclaration, outer: FunctionScope): Evaluate {
  const scope = new FunctionScope(outer.notes, outer);
  const parameters = node.parameters.map((parameter) => {
    if (parameter.type === "Identifier") return scope.declare(parameter.name);
    throw new UnsupportedLuaError("varargs (...)", parameter.loc?.start.line ?? 1);
  });
  const body = compileBody(node.body, scope);
  const { origins } = scope;
  return (creator) => {
    const upvalues = origins.map((origin) =>
      origin.kind === "local"
        ? (creator.slots[origin.slot] as Cell)
        : creator.upvalues[origin.index]!,
    );
    const call: LuaFunction = (args, host) => {
      const frame = new Frame(scope.size, upvalues, host);
      for (let index = 0; index < parameters.length; index++) {
        const { slot, inCell } = parameters[index]!;
        frame.slots[slot] = inCell ? new Cell(args[index]) : args[index];
      }
      return body(frame) === RETURN ? frame.result : NO_VALUES;
    };
    return call;
  };
}

/** Compiles statements that run one after the other, in the scope's current block. */
export function compileBody(statements: readonly Statement[], scope: FunctionScope): Execute {
  const steps = statements.map((statement) => compileStatement(statement, scope));
  if (steps.length === 1) {
    return steps[0]!;
  }
  return (frame) => {
    for (let index = 0; index < steps.length; index++) {
      const completion = steps[index]!(frame);
      if (completion !== NEXT) return completion;
    }
    return NEXT;
  };
}

/** Compiles a block with its own locals. */
export function compileBlock(statements: readonly Statement[], scope: FunctionScope): Execute {
  return scope.block(() => compileBody(statements, scope));
}

const NO_VALUES: LuaValue[] = [];
