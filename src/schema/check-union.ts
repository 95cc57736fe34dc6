import { toTypeTest, toValueTest, valuesOf } from "./check-scalar.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { fitsQuietly, refuse } from "./receive-walk.ts";
import type { Check, CheckCompiler, ReceiveWalk } from "./receive-walk.ts";

type Test = (json: JsonValue) => boolean;

interface Arm {
  readonly check: Check;
  /** Tells at a glance that the arm is out of the question, by its type and the constants in its fields. */
  readonly test: Test;
}

const acceptAny: Test = () => true;

/**
 * The checks of a node's alternatives and conditions. A reader accepts any arm of an `oneOf`, unless the schema holds to the letter.
 * It ignores `unevaluated…`, which closes objects in ways that no library emits.
 */
export function createUnionChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const { anyOf, oneOf, not, if: condition, dependentSchemas } = node;
  const checks: Check[] = [];
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list)) continue;
    const arms = list.map((arm: JsonValue): Arm => ({ check: compiler.now(arm), test: toTest(arm) }));
    const isOnly = list === oneOf && compiler.isExact;
    checks.push((json, walk) => (isOnly ? checkOnlyArm(arms, json, walk) : checkArms(arms, json, walk)));
  }
  if (not !== undefined) {
    const check = compiler.now(not);
    checks.push((json, walk) => !fitsQuietly(check, json, walk) || refuse(walk, "expected something else"));
  }
  if (condition !== undefined) {
    const [test, fit, unfit] = [compiler.now(condition), compiler.now(node["then"]), compiler.now(node["else"])];
    checks.push((json, walk) => (fitsQuietly(test, json, walk) ? fit : unfit)(json, walk));
  }
  for (const [key, schema] of Object.entries(isJsonObject(dependentSchemas) ? dependentSchemas : {})) {
    const check = compiler.now(schema);
    checks.push((json, walk) => !isJsonObject(json) || !Object.hasOwn(json, key) || check(json, walk));
  }
  return checks;
}

function checkOnlyArm(arms: readonly Arm[], json: JsonValue, walk: ReceiveWalk): boolean {
  const fitting = arms.filter(({ check, test }) => test(json) && fitsQuietly(check, json, walk));
  if (fitting.length === 1) return true;
  if (fitting.length > 1) return refuse(walk, "more than one option fits");
  // Runs again for the issues only where they are wanted.
  return !walk.quiet && checkArms(arms, json, walk);
}

function checkArms(arms: readonly Arm[], json: JsonValue, walk: ReceiveWalk): boolean {
  const possible = arms.filter(({ test }) => test(json));
  const [only] = possible;
  // The issues of the only arm that is possible are those of the value.
  if (only !== undefined && possible.length === 1) return only.check(json, walk);
  return possible.some(({ check }) => fitsQuietly(check, json, walk)) || refuse(walk, "no option fits");
}

function toTest(arm: JsonValue): Test {
  if (!isJsonObject(arm)) return acceptAny;
  const values = valuesOf(arm);
  if (values !== undefined) return toValueTest(values);
  const { type } = arm;
  if (type === undefined) return acceptAny;
  const ofType = toTypeTest(Array.isArray(type) ? type : [type]);
  const tags = type === "object" ? tagsOf(arm) : [];
  return tags.length === 0 ? ofType : (json) => ofType(json) && isJsonObject(json) && hasTags(json, tags);
}

function tagsOf({ properties, required }: JsonObject): [string, Test][] {
  if (!isJsonObject(properties) || !Array.isArray(required)) return [];
  return required.flatMap((key): [string, Test][] => {
    const property = typeof key === "string" && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const values = isJsonObject(property) ? valuesOf(property) : undefined;
    return values === undefined || typeof key !== "string" ? [] : [[key, toValueTest(values)]];
  });
}

function hasTags(json: JsonObject, tags: readonly [string, Test][]): boolean {
  return tags.every(([key, test]) => {
    const value = Object.hasOwn(json, key) ? json[key] : undefined;
    return value !== undefined && test(value);
  });
}
