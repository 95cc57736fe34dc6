import { type AssignmentExpression, Visitor } from "oxc-parser";
import { lineAt, type Source } from "../source.ts";

/** Folders whose code runs for each request, message or change. */
const busy = /^src\/(call|http|links|mcp|spine|stdio|surface)\//;

/**
 * Function literals that are assigned to a property. V8 (Node 20 to 24) allocates such a function among old objects, where it keeps
 * all that its scope refers to from being collected while it is young. A function with a name of its own is allocated among young ones.
 */
export function findAssignedFunctions(source: Source): string[] {
  if (!busy.test(source.path)) return [];
  const found: string[] = [];
  const judge = ({ left, right, start }: AssignmentExpression): void => {
    const isFunction = right.type === "ArrowFunctionExpression" || right.type === "FunctionExpression";
    if (isFunction && left.type === "MemberExpression") {
      found.push(`${source.path}:${lineAt(source, start)} assigns a function literal to a property`);
    }
  };
  new Visitor({ AssignmentExpression: judge }).visit(source.program);
  return found;
}
