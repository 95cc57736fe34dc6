import { isJsonObject } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { fitsStrictly, refuse } from "./receive-walk.ts";
import type { Check, CheckCompiler } from "./receive-walk.ts";

/**
 * The checks that depend on whether a value fits another schema. What `unevaluated…` says is left to the end that the
 * value comes from: it closes objects in ways that no library of the day emits, and no type of a reader says.
 */
export function createConditionChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const { not, if: condition, dependentSchemas } = node;
  const checks: Check[] = [];
  if (not !== undefined) checks.push(notCheck(compiler.now(not)));
  if (condition !== undefined) {
    const [fit, unfit] = [compiler.now(node["then"]), compiler.now(node["else"])];
    const test = compiler.now(condition);
    checks.push((json, walk) => (fitsStrictly(test, json, walk) ? fit : unfit)(json, walk));
  }
  for (const [key, schema] of Object.entries(isJsonObject(dependentSchemas) ? dependentSchemas : {})) {
    const check = compiler.now(schema);
    checks.push((json, walk) => (isJsonObject(json) && Object.hasOwn(json, key) ? check(json, walk) : json));
  }
  return checks;
}

function notCheck(check: Check): Check {
  return (json, walk) => (fitsStrictly(check, json, walk) ? refuse(walk, "expected something else") : json);
}
