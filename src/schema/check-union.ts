import { toTypeTest, toValueTest, valuesOf } from "./check-scalar.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { fitsStrictly, refuse, refused } from "./receive-walk.ts";
import type { Check, CheckCompiler, ReceiveWalk } from "./receive-walk.ts";

type Test = (json: JsonValue) => boolean;

interface Arm {
  readonly check: Check;
  /** Tells at a glance that the arm is out of the question, by its type and the constants in its fields. */
  readonly test: Test;
}

const acceptAny: Test = () => true;

/** Holds a value against alternatives. */
type UnionRule = (arms: readonly Arm[], json: JsonValue, walk: ReceiveWalk) => ReturnType<Check>;

/**
 * The checks of a node's alternatives. An `oneOf` is as good as an `anyOf` to a reader: any arm that fits will do, unless the
 * schema is held to the letter.
 */
export function createUnionChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const toCheck = (list: JsonValue | undefined, rule: UnionRule): Check[] => {
    if (!Array.isArray(list)) return [];
    const arms = list.map((arm: JsonValue) => ({ check: compiler.now(arm), test: toTest(arm) }));
    return [(json, walk) => rule(arms, json, walk)];
  };
  return [...toCheck(node["anyOf"], checkArms), ...toCheck(node["oneOf"], compiler.isExact ? checkOnlyArm : checkArms)];
}

function checkOnlyArm(arms: readonly Arm[], json: JsonValue, walk: ReceiveWalk): ReturnType<Check> {
  const fitting = arms.filter(({ check, test }) => test(json) && fitsStrictly(check, json, walk));
  if (fitting.length === 1) return json;
  if (fitting.length > 1) return refuse(walk, "more than one option fits");
  // Looked at again for what is wrong only where somebody wants to know.
  return walk.quiet ? refused : checkArms(arms, json, walk);
}

function checkArms(arms: readonly Arm[], json: JsonValue, walk: ReceiveWalk): ReturnType<Check> {
  let only: Arm | undefined;
  for (const arm of arms) {
    if (!arm.test(json)) continue;
    if (only !== undefined) return pickArm(arms, json, walk);
    only = arm;
  }
  // With one arm left, what that one dislikes is what is wrong.
  return only === undefined ? refuse(walk, "no option fits") : only.check(json, walk);
}

/** Takes the arm that drops the fewest fields; of those that drop as many, the first. */
function pickArm(arms: readonly Arm[], json: JsonValue, walk: ReceiveWalk): ReturnType<Check> {
  const { quiet, dropped: before } = walk;
  let best: ReturnType<Check> = refused;
  let fewest = Number.POSITIVE_INFINITY;
  walk.quiet = true;
  for (const { check, test } of arms) {
    walk.dropped = 0;
    const result = test(json) ? check(json, walk) : refused;
    if (result === refused || walk.dropped >= fewest) continue;
    best = result;
    fewest = walk.dropped;
    if (fewest === 0) break;
  }
  walk.quiet = quiet;
  walk.dropped = before + (best === refused ? 0 : fewest);
  return best === refused ? refuse(walk, "no option fits") : best;
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
