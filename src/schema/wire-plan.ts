import { isOfType, isPlainObject } from "./json.ts";
import type { JsonValue } from "./json.ts";
import { toBigint, toDate } from "./wire-forms.ts";

/** A part of a plan, created on first use, so that a recursive schema has a finite plan. */
export type LazyPlan = () => WirePlan;

interface PlanFlags {
  /** Whether decoding changes something here or below. Set once the whole plan is known. */
  coded: boolean;
  /** Whether a validated value is JSON at every level, so that `JSON.stringify` loses nothing. Set once the whole plan is known. */
  plain: boolean;
}

/** Any JSON value: encoding checks every part of it. */
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

/** A union. A value takes the first arm that fits it. */
export interface UnionPlan extends PlanFlags {
  readonly kind: "union";
  readonly arms: readonly WirePlan[];
}

/** The nodes of a schema that hold values that JSON does not have. Encoding and decoding follow it. */
export type WirePlan = AnyPlan | ScalarPlan | CodedPlan | ListPlan | RecordPlan | MapPlan | SetPlan | UnionPlan;

/** The plan of anything. Shared, and never analysed: its flags are final. */
export const anyPlan: AnyPlan = Object.freeze({ kind: "any", coded: false, plain: false });

/** The kinds of values that JSON does not have. */
export const codedKinds: ReadonlySet<WirePlan["kind"]> = new Set(["date", "bigint", "map", "set"]);

/** Returns the plan of a property. */
export function planOfProperty(plan: RecordPlan, key: string): WirePlan {
  const own = plan.properties.get(key);
  if (own !== undefined) return own();
  const matching = plan.patterns.find(({ pattern }) => pattern.test(key));
  return (matching?.plan ?? plan.rest)();
}

/** Returns the plan of an item of an array. */
export function planOfItem(plan: ListPlan, index: number): WirePlan {
  return (plan.prefix[index] ?? plan.rest)();
}

/** Tells whether a record declares a field. */
export function declaresField(plan: RecordPlan, key: string): boolean {
  return plan.properties.has(key) || plan.patterns.some(({ pattern }) => pattern.test(key));
}

/** Options of {@link fitsPlan}. */
interface FitOptions {
  /** The form of the value. */
  readonly side: "memory" | "wire";
  /** Levels of the value still to compare. */
  readonly levels: number;
  /** Whether closed objects may have further fields. @default false */
  readonly isOpen?: boolean;
}

/** Levels to which an arm of a union is compared with a value: with overlapping arms at every level, all levels would cost 2^depth. */
export const fitLevels = 4;

/** Tells whether a value has the shape of a plan, down to `options.levels`. Ignores bounds and patterns. */
export function fitsPlan(plan: WirePlan, value: unknown, options: FitOptions): boolean {
  const { levels } = options;
  if (levels < 0 || plan.kind === "any") return true;
  switch (plan.kind) {
    case "scalar":
      return fitsScalar(plan, value);
    case "date":
    case "bigint":
      return options.side === "memory" ? isInMemory(plan.kind, value) : isOnWire(plan.kind, value);
    case "union":
      return plan.arms.some((arm) => fitsPlan(arm, value, options));
    default:
      return fitsContainer(plan, value, { ...options, levels: levels - 1 });
  }
}

function fitsContainer(plan: ListPlan | RecordPlan | MapPlan | SetPlan, value: unknown, options: FitOptions): boolean {
  if (plan.kind === "list") return Array.isArray(value) && fitsList(plan, value, options);
  return plan.kind === "record"
    ? isRecord(value) && fitsRecord(plan, value, options)
    : fitsEntries(plan, value, options);
}

function fitsEntries(plan: MapPlan | SetPlan, value: unknown, options: FitOptions): boolean {
  const isEntries = options.side === "wire" ? Array.isArray(value) : value instanceof (plan.kind === "set" ? Set : Map);
  if (!isEntries) return false;
  // An array, a set or a map, by the line above.
  return [...(value as Iterable<unknown>)].every((entry) => {
    if (plan.kind === "set") return fitsPlan(plan.item(), entry, options);
    return isPair(entry) && fitsPlan(plan.key(), entry[0], options) && fitsPlan(plan.value(), entry[1], options);
  });
}

/** Tells whether a value is a `[key, value]` pair. */
export function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

function fitsScalar({ types, values }: ScalarPlan, value: unknown): boolean {
  if (values !== undefined) return values.some((allowed) => isSame(allowed, value));
  return types === undefined || types.some((type) => isOfType(value, type));
}

function isSame(allowed: JsonValue, value: unknown): boolean {
  if (typeof allowed !== "object" || allowed === null) return allowed === value;
  return typeof value === "object" && JSON.stringify(allowed) === JSON.stringify(value);
}

function fitsList(plan: ListPlan, items: readonly unknown[], options: FitOptions): boolean {
  if (items.length < plan.min || items.length > plan.max) return false;
  return items.every((item, index) => fitsPlan(planOfItem(plan, index), item, options));
}

function fitsRecord(plan: RecordPlan, value: object, options: FitOptions): boolean {
  const given = new Map(Object.entries(value).filter(([, item]) => item !== undefined));
  if (!plan.required.every((key) => given.has(key))) return false;
  for (const [key, item] of given) {
    const isFitting =
      plan.closed && !declaresField(plan, key)
        ? options.isOpen === true
        : fitsPlan(planOfProperty(plan, key), item, options);
    if (!isFitting) return false;
  }
  return true;
}

function isInMemory(form: "date" | "bigint", value: unknown): boolean {
  return form === "date" ? value instanceof Date : typeof value === "bigint";
}

function isOnWire(form: "date" | "bigint", value: unknown): boolean {
  return typeof value === "string" && (form === "date" ? toDate(value) : toBigint(value)) !== undefined;
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && isPlainObject(value) && !Array.isArray(value);
}
