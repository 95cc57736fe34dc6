import { isPlainObject } from "./encode-any.ts";
import type { JsonValue } from "./json.ts";
import { toBigint, toDate } from "./wire-forms.ts";
import { planOfProperty } from "./wire-plan.ts";
import type { ListPlan, MapPlan, RecordPlan, ScalarPlan, SetPlan, WirePlan } from "./wire-plan.ts";

/** Whether a value is looked at as it is in memory, or in its wire form. */
export type ValueSide = "memory" | "wire";

/** A look at one value. */
export interface Look {
  readonly side: ValueSide;
  /** How many more levels to look down. */
  readonly levels: number;
  /** Whether closed objects may have further fields. @default false */
  readonly isOpen?: boolean;
}

/**
 * How deep an arm of a union is compared with a value. Deeper differences do not choose an arm: with overlapping arms
 * at every level of a recursive schema, looking all the way down would cost 2^depth.
 */
export const fitLevels = 4;

/** Tells whether a value has the shape of a plan, down to `look.levels`. Bounds and patterns are not looked at. */
export function fitsPlan(plan: WirePlan, value: unknown, look: Look): boolean {
  if (look.levels < 0 || plan.kind === "any") return true;
  switch (plan.kind) {
    case "scalar":
      return fitsScalar(plan, value);
    case "date":
    case "bigint":
      return look.side === "memory" ? isInMemory(plan.kind, value) : isOnWire(plan.kind, value);
    case "union":
      return plan.arms.some((arm) => fitsPlan(arm, value, look));
    default:
      return fitsContainer(plan, value, { ...look, levels: look.levels - 1 });
  }
}

function fitsContainer(plan: ListPlan | RecordPlan | MapPlan | SetPlan, value: unknown, look: Look): boolean {
  switch (plan.kind) {
    case "list":
      return Array.isArray(value) && fitsList(plan, value, look);
    case "record":
      return isRecord(value) && fitsRecord(plan, value, look);
    case "set":
      return entriesOf(value, Set, look.side)?.every((item) => fitsPlan(plan.item(), item, look)) ?? false;
    default:
      return entriesOf(value, Map, look.side)?.every((pair) => isPair(pair) && fitsPair(plan, pair, look)) ?? false;
  }
}

function entriesOf(value: unknown, group: typeof Map | typeof Set, side: ValueSide): unknown[] | undefined {
  if (side === "wire") return Array.isArray(value) ? value : undefined;
  return value instanceof group ? [...value] : undefined;
}

function fitsPair(plan: MapPlan, pair: readonly unknown[], look: Look): boolean {
  return fitsPlan(plan.key(), pair[0], look) && fitsPlan(plan.value(), pair[1], look);
}

/** Tells whether a value is a `[key, value]` pair. */
export function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

function fitsScalar(plan: ScalarPlan, value: unknown): boolean {
  if (plan.values !== undefined) return plan.values.some((allowed) => isSame(allowed, value));
  return plan.types === undefined || plan.types.some((type) => isOfType(type, value));
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === "null" ? value === null : type === typeof value;
}

function isSame(allowed: JsonValue, value: unknown): boolean {
  if (typeof allowed !== "object" || allowed === null) return allowed === value;
  return typeof value === "object" && JSON.stringify(allowed) === JSON.stringify(value);
}

function fitsList(plan: ListPlan, items: readonly unknown[], look: Look): boolean {
  if (items.length < plan.min || items.length > plan.max) return false;
  return items.every((item, index) => fitsPlan((plan.prefix[index] ?? plan.rest)(), item, look));
}

function fitsRecord(plan: RecordPlan, value: object, look: Look): boolean {
  const given = new Map(Object.entries(value).filter(([, item]) => item !== undefined));
  if (!plan.required.every((key) => given.has(key))) return false;
  for (const [key, item] of given) {
    if (plan.closed && !isPlanned(plan, key)) {
      if (look.isOpen !== true) return false;
      continue;
    }
    if (!fitsPlan(planOfProperty(plan, key), item, look)) return false;
  }
  return true;
}

/** Tells whether a record declares a field. */
export function isPlanned(plan: RecordPlan, key: string): boolean {
  return plan.properties.has(key) || plan.patterns.some(({ pattern }) => pattern.test(key));
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && isPlainObject(value) && !Array.isArray(value);
}

function isInMemory(form: "date" | "bigint", value: unknown): boolean {
  return form === "date" ? value instanceof Date : typeof value === "bigint";
}

function isOnWire(form: "date" | "bigint", value: unknown): boolean {
  return typeof value === "string" && (form === "date" ? toDate(value) : toBigint(value)) !== undefined;
}
