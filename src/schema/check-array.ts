import { canonicalText } from "./canonical-text.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { fitsStrictly, isSettled, isTooDeep, refuse, refused, refuseDepth } from "./receive-walk.ts";
import type { Check, CheckCompiler, ReceiveWalk } from "./receive-walk.ts";

interface Items {
  readonly prefix: readonly Check[];
  readonly rest: Check;
}

/** Says what is wrong with an array as a whole. */
type ArrayRule = (items: readonly JsonValue[], walk: ReceiveWalk) => string | undefined;

/** The checks of arrays and tuples. They let pass what is no array. */
export function createArrayChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const { prefixItems, items, contains, uniqueItems } = node;
  const checks: Check[] = [];
  if (Array.isArray(prefixItems) || items !== undefined) {
    const tuple: readonly JsonValue[] = Array.isArray(prefixItems) ? prefixItems : [];
    const parts = { prefix: tuple.map((item) => compiler.later(item)), rest: compiler.later(items) };
    checks.push((json, walk) => {
      if (!Array.isArray(json)) return json;
      return isTooDeep(walk) ? refuseDepth(walk) : checkItems(parts, json, walk);
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
    return problem === undefined ? json : refuse(walk, problem);
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
    const count = items.filter((item) => fitsStrictly(check, item, walk)).length;
    return count < min || count > max ? "expected another number of certain items" : undefined;
  };
}

function findTwin(items: readonly JsonValue[]): string | undefined {
  return new Set(items.map(canonicalText)).size < items.length ? "expected no item twice" : undefined;
}

function checkItems({ prefix, rest }: Items, items: readonly JsonValue[], walk: ReceiveWalk): ReturnType<Check> {
  let copy: JsonValue[] | undefined;
  let isRefused = false;
  for (let index = 0; index < items.length; index++) {
    // The array is JSON, so it has no holes.
    const item = items[index] as JsonValue;
    walk.path.push(index);
    const result = (prefix[index] ?? rest)(item, walk);
    walk.path.pop();
    if (result === item) continue;
    if (result === refused) isRefused = true;
    else (copy ??= [...items])[index] = result;
    if (isRefused && isSettled(walk)) break;
  }
  return isRefused ? refused : (copy ?? items);
}
