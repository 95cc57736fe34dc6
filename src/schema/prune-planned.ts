import { fitLevels, fitsPlan, isPlanned } from "./fits-plan.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { setOwn } from "./set-own.ts";
import { anyPlan, planOfProperty } from "./wire-plan.ts";
import type { RecordPlan, UnionPlan, WirePlan } from "./wire-plan.ts";

// As deep as a value may be that is written: no schema accepts a deeper one.
const maxDepth = 512;

/** Drops the fields that closed objects of a plan do not declare. Returns the value itself where there are none. Never throws. */
export function prunePlanned(plan: WirePlan, json: JsonValue, depth = 0): JsonValue {
  if (typeof json !== "object" || json === null || depth > maxDepth) return json;
  if (plan.kind === "union") return prunePlanned(armOf(plan, json), json, depth);
  if (isJsonObject(json)) return plan.kind === "record" ? pruneRecord(plan, json, depth + 1) : json;
  const planAt = planOfItems(plan);
  if (planAt === undefined) return json;
  const pruned = json.map((item, index) => prunePlanned(planAt(index), item, depth + 1));
  return pruned.some((item, index) => item !== json[index]) ? pruned : json;
}

function planOfItems(plan: WirePlan): ((index: number) => WirePlan) | undefined {
  switch (plan.kind) {
    case "list":
      return (index) => (plan.prefix[index] ?? plan.rest)();
    case "set":
      return plan.item;
    case "map": {
      const pair = { ...plan, kind: "list", prefix: [plan.key, plan.value], rest: plan.value, min: 2, max: 2 } as const;
      return () => pair;
    }
    default:
      return undefined;
  }
}

function pruneRecord(plan: RecordPlan, json: JsonObject, depth: number): JsonObject {
  const copy: JsonObject = {};
  let isSame = true;
  for (const [key, item = null] of Object.entries(json)) {
    const isDropped = plan.closed && !isPlanned(plan, key);
    const pruned = isDropped ? undefined : prunePlanned(planOfProperty(plan, key), item, depth);
    if (pruned !== undefined) setOwn(copy, key, pruned);
    if (pruned !== item) isSame = false;
  }
  return isSame ? json : copy;
}

/**
 * Returns the first arm that a value fits. If it fits none, returns the arm that declares most of its fields among those that it
 * would fit without the others, or else among those whose constants it has.
 */
function armOf({ arms }: UnionPlan, json: JsonValue): WirePlan {
  const known = arms.filter((arm) => arm.kind !== "any");
  const fits = (arm: WirePlan, isOpen: boolean): boolean =>
    fitsPlan(arm, json, { side: "wire", levels: fitLevels, isOpen });
  const exact = known.find((arm) => fits(arm, false));
  if (exact !== undefined) return exact;
  const open = known.filter((arm) => fits(arm, true));
  const possible = open.length > 0 ? open : known.filter((arm) => hasConstants(arm, json));
  const [best = anyPlan] = possible.toSorted((first, second) => declared(second, json) - declared(first, json));
  return best;
}

function hasConstants(plan: WirePlan, json: JsonValue): boolean {
  if (plan.kind !== "record" || !isJsonObject(json)) return false;
  return Array.from(plan.properties, ([key, of]) => ({ key, part: of() })).every(({ key, part }) => {
    if (part.kind !== "scalar" || part.values === undefined || !Object.hasOwn(json, key)) return true;
    return fitsPlan(part, json[key], { side: "wire", levels: 0 });
  });
}

function declared(plan: WirePlan, json: JsonValue): number {
  if (plan.kind !== "record" || !isJsonObject(json)) return 0;
  return Object.keys(json).filter((key) => isPlanned(plan, key)).length;
}
