import { encodeAny, encodeItems, encodeProperties, isPlainObject } from "./encode-any.ts";
import { fitLevels, fitsPlan } from "./fits-plan.ts";
import type { JsonValue } from "./json.ts";
import { enter, unserialisable } from "./walk-path.ts";
import type { WalkPath } from "./walk-path.ts";
import { fromBigint } from "./wire-forms.ts";
import { planOfProperty } from "./wire-plan.ts";
import type { ListPlan, MapPlan, RecordPlan, SetPlan, UnionPlan, WirePlan } from "./wire-plan.ts";

/**
 * Writes a validated value along a plan. Where the value is not what the plan expects, it is written as if nothing
 * were known about it. Errors: `UNSERIALISABLE`, naming the path.
 */
export function encodePlanned(plan: WirePlan, value: unknown, path: WalkPath): JsonValue {
  // Without a wire form below, what a plan says is no matter: above all its patterns, which may be a stranger's.
  if (!plan.coded) return encodeAny(value, path);
  switch (plan.kind) {
    case "union":
      return encodeUnion(plan, value, path);
    case "bigint":
      return typeof value === "bigint" ? encodeBigint(value, path) : encodeAny(value, path);
    case "date":
    case "any":
    case "scalar":
      return encodeAny(value, path);
    default:
      return encodeContainer(plan, value, path);
  }
}

function encodeContainer(plan: ListPlan | RecordPlan | MapPlan | SetPlan, value: unknown, path: WalkPath): JsonValue {
  if (plan.kind === "record") return encodeRecord(plan, value, path);
  if (plan.kind === "list" && Array.isArray(value)) {
    return encodeItems(value, path, (item, index) => encodePlanned((plan.prefix[index] ?? plan.rest)(), item, path));
  }
  if (plan.kind === "map" && value instanceof Map) return encodeMap(plan, value, path);
  if (plan.kind === "set" && value instanceof Set) return encodeSet(plan, value, path);
  return encodeAny(value, path);
}

function encodeBigint(value: bigint, path: WalkPath): string {
  const text = fromBigint(value);
  if (text === undefined) throw unserialisable(path, "a bigint of more than 4,096 digits");
  return text;
}

function encodeRecord(plan: RecordPlan, value: unknown, path: WalkPath): JsonValue {
  const isOpaque = typeof value !== "object" || value === null || Array.isArray(value) || !isPlainObject(value);
  if (isOpaque || ("toJSON" in value && typeof value.toJSON === "function")) return encodeAny(value, path);
  return encodeProperties(value, path, (item, key) => encodePlanned(planOfProperty(plan, key), item, path));
}

function encodeMap(plan: MapPlan, value: ReadonlyMap<unknown, unknown>, path: WalkPath): JsonValue {
  enter(path, value);
  const pairs = Array.from(value, (pair, index) => {
    path.keys.push(index);
    const wire = [encodePlanned(plan.key(), pair[0], path), encodePlanned(plan.value(), pair[1], path)];
    path.keys.pop();
    return wire;
  });
  path.ancestors.pop();
  return pairs;
}

function encodeSet(plan: SetPlan, value: ReadonlySet<unknown>, path: WalkPath): JsonValue {
  enter(path, value);
  const items = encodeItems([...value], path, (item) => encodePlanned(plan.item(), item, path));
  path.ancestors.pop();
  return items;
}

function encodeUnion(plan: UnionPlan, value: unknown, path: WalkPath): JsonValue {
  const arm = plan.arms.find((candidate) => fitsPlan(candidate, value, { side: "memory", levels: fitLevels }));
  return arm === undefined ? encodeAny(value, path) : encodePlanned(arm, value, path);
}
