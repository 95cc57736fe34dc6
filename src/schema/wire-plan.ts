import { isPlainObject } from "./json.ts";
import type { JsonValue } from "./json.ts";
import { toBigint, toDate } from "./wire-forms.ts";

/** A part of a plan that is made when it is first needed, so that a recursive schema has a finite plan. */
export type LazyPlan = () => WirePlan;

interface PlanFlags {
  /** True when decoding changes something here or below. Set once the whole plan is known. */
  coded: boolean;
  /** True when a validated value is JSON all the way down, so that `JSON.stringify` says everything. Set likewise. */
  plain: boolean;
}

/** Any JSON value: nothing is known, so encoding looks at everything. */
export interface AnyPlan extends PlanFlags {
  readonly kind: "any";
}

/** A JSON scalar. `values` are the only ones, `types` the JSON types; undefined means all. */
export interface ScalarPlan extends PlanFlags {
  readonly kind: "scalar";
  readonly types: readonly string[] | undefined;
  readonly values: readonly JsonValue[] | undefined;
}

/** A value with a wire form that is a string. */
export interface CodedPlan extends PlanFlags {
  readonly kind: "date" | "bigint";
}

/** An array or a tuple. */
export interface ListPlan extends PlanFlags {
  readonly kind: "list";
  readonly prefix: readonly LazyPlan[];
  readonly rest: LazyPlan;
  readonly min: number;
  readonly max: number;
}

/** An object. If it is `closed`, it has no fields but `properties` and `patterns`. */
export interface RecordPlan extends PlanFlags {
  readonly kind: "record";
  readonly properties: ReadonlyMap<string, LazyPlan>;
  readonly patterns: readonly { readonly pattern: RegExp; readonly plan: LazyPlan }[];
  readonly rest: LazyPlan;
  readonly closed: boolean;
  readonly required: readonly string[];
}

/** A `Map`. */
export interface MapPlan extends PlanFlags {
  readonly kind: "map";
  readonly key: LazyPlan;
  readonly value: LazyPlan;
}

/** A `Set`. */
export interface SetPlan extends PlanFlags {
  readonly kind: "set";
  readonly item: LazyPlan;
}

/** One of several. A value takes the first arm that fits it. */
export interface UnionPlan extends PlanFlags {
  readonly kind: "union";
  readonly arms: readonly WirePlan[];
}

/** Which nodes of a schema hold values that JSON does not have: what encoding and decoding follow. */
export type WirePlan = AnyPlan | ScalarPlan | CodedPlan | ListPlan | RecordPlan | MapPlan | SetPlan | UnionPlan;

/** The plan of anything. Shared, and never analysed: its flags are final. */
export const anyPlan: AnyPlan = Object.freeze({ kind: "any", coded: false, plain: false });

/** The kinds of values that JSON does not have. */
export const codedKinds: ReadonlySet<WirePlan["kind"]> = new Set(["date", "bigint", "map", "set"]);

/** Finds the plan of a property. */
export function planOfProperty(plan: RecordPlan, key: string): WirePlan {
  const own = plan.properties.get(key);
  if (own !== undefined) return own();
  const matching = plan.patterns.find(({ pattern }) => pattern.test(key));
  return (matching?.plan ?? plan.rest)();
}

/** Options of {@link fitsPlan}. */
interface Look {
  /** The form of the value. */
  readonly side: "memory" | "wire";
  /** Levels of the value still to compare. */
  readonly levels: number;
  /** Whether closed objects may have further fields. @default false */
  readonly isOpen?: boolean;
}

/**
 * Levels to which an arm of a union is compared with a value. Deeper differences do not choose an arm: with overlapping arms at
 * every level of a recursive schema, comparing all levels would cost 2^depth.
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

function entriesOf(value: unknown, group: typeof Map | typeof Set, side: Look["side"]): unknown[] | undefined {
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
