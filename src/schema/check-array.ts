import { canonicalText } from "./canonical-text.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { fitsQuietly, isSettled, isTooDeep, refuse } from "./receive-walk.ts";
import type { Check, CheckCompiler, ReceiveWalk } from "./receive-walk.ts";

/** Returns the problem with an array as a whole. */
type ArrayRule = (items: readonly JsonValue[], walk: ReceiveWalk) => string | undefined;

/** The checks of arrays and tuples. They accept any other value. */
export function createArrayChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const { prefixItems, items, contains, uniqueItems } = node;
  const checks: Check[] = [];
  if (Array.isArray(prefixItems) || items !== undefined) {
    const prefix = (Array.isArray(prefixItems) ? prefixItems : []).map((item: JsonValue) => compiler.later(item));
    const rest = compiler.later(items);
    checks.push((json, walk) => {
      if (!Array.isArray(json)) return true;
      if (isTooDeep(walk)) return false;
      let fits = true;
      for (let index = 0; index < json.length && (fits || !isSettled(walk)); index += 1) {
        // The array is JSON, so it has no holes.
        const item = json[index] as JsonValue;
        walk.path.push(index);
        if (!(prefix[index] ?? rest)(item, walk)) fits = false;
        walk.path.pop();
      }
      return fits;
    });
  }
  checks.push(...countRules(node).map(toCheck));
  if (contains !== undefined) checks.push(toCheck(containsRule(node, compiler.later(contains))));
  if (uniqueItems === true) checks.push(toCheck(findTwin));
  return checks;
}

function toCheck(rule: ArrayRule): Check {
  return (json, walk) => {
    const problem = Array.isArray(json) ? rule(json, walk) : undefined;
    return problem === undefined || refuse(walk, problem);
  };
}

function countRules({ minItems, maxItems }: JsonObject): ArrayRule[] {
  const rules: ArrayRule[] = [];
  if (typeof minItems === "number")
    rules.push((items) => (items.length < minItems ? `expected at least ${minItems} items` : undefined));
  if (typeof maxItems === "number")
    rules.push((items) => (items.length > maxItems ? `expected at most ${maxItems} items` : undefined));
  return rules;
}

function containsRule({ minContains, maxContains }: JsonObject, check: Check): ArrayRule {
  const min = typeof minContains === "number" ? minContains : 1;
  const max = typeof maxContains === "number" ? maxContains : Number.POSITIVE_INFINITY;
  return (items, walk) => {
    const count = items.filter((item) => fitsQuietly(check, item, walk)).length;
    return count < min || count > max ? "expected another number of certain items" : undefined;
  };
}

function findTwin(items: readonly JsonValue[]): string | undefined {
  return new Set(items.map(canonicalText)).size < items.length ? "expected no item twice" : undefined;
}
