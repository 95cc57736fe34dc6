import { fitLevels, fitsPlan, isPair } from "./fits-plan.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { setOwn } from "./set-own.ts";
import { toBigint, toDate } from "./wire-forms.ts";
import { planOfProperty } from "./wire-plan.ts";
import type { ListPlan, MapPlan, RecordPlan, UnionPlan, WirePlan } from "./wire-plan.ts";

const codedKinds: ReadonlySet<string> = new Set(["date", "bigint", "map", "set"]);

/**
 * Reads JSON along a plan. Parts without a wire form of their own are returned as they are, and so is what does not
 * look like the form that the plan expects. Never throws.
 */
export function decodePlanned(plan: WirePlan, json: JsonValue): unknown {
  if (!plan.coded) return json;
  if (plan.kind === "union") return decodeUnion(plan, json);
  if (typeof json === "string") return decodeText(plan, json);
  if (Array.isArray(json)) return decodeArray(plan, json);
  return plan.kind === "record" && isJsonObject(json) ? decodeProperties(plan, json) : json;
}

function decodeText(plan: WirePlan, text: string): unknown {
  if (plan.kind === "date") return toDate(text) ?? text;
  return plan.kind === "bigint" ? (toBigint(text) ?? text) : text;
}

function decodeArray(plan: WirePlan, items: readonly JsonValue[]): unknown {
  switch (plan.kind) {
    case "list":
      return decodeItems(plan, items);
    case "map":
      return decodeMap(plan, items);
    case "set":
      return new Set(items.map((item) => decodePlanned(plan.item(), item)));
    default:
      return items;
  }
}

function decodeItems(plan: ListPlan, items: readonly JsonValue[]): unknown {
  let copy: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const value = decodePlanned((plan.prefix[index] ?? plan.rest)(), item);
    if (value === item) continue;
    copy ??= [...items];
    copy[index] = value;
  }
  return copy ?? items;
}

function decodeProperties(plan: RecordPlan, json: JsonObject): unknown {
  let copy: object | undefined;
  for (const [key, item] of Object.entries(json)) {
    const value = decodePlanned(planOfProperty(plan, key), item);
    if (value === item) continue;
    copy ??= { ...json };
    setOwn(copy, key, value);
  }
  return copy ?? json;
}

function decodeMap(plan: MapPlan, pairs: readonly JsonValue[]): unknown {
  if (!pairs.every(isPair)) return pairs;
  // isPair has just seen that each is a pair, and what is inside JSON is JSON.
  const entries = pairs as readonly (readonly [JsonValue, JsonValue])[];
  return new Map(entries.map(([key, value]) => [decodePlanned(plan.key(), key), decodePlanned(plan.value(), value)]));
}

/**
 * Takes the first arm that fits, in declared order, except that an arm that is itself a date, bigint, map or set comes
 * last: where `z.union([z.date(), z.string()])` gets text that is also a date, it stays text.
 */
function decodeUnion(plan: UnionPlan, json: JsonValue): unknown {
  const fits = (arm: WirePlan): boolean => fitsPlan(arm, json, { side: "wire", levels: fitLevels });
  const arm =
    plan.arms.find((candidate) => !codedKinds.has(candidate.kind) && fits(candidate)) ??
    plan.arms.find((candidate) => codedKinds.has(candidate.kind) && fits(candidate));
  return arm === undefined ? json : decodePlanned(arm, json);
}
