import { compilePlan } from "./compile-plan.ts";
import { createWalkPath, encodeAny, encodePlanned } from "./encode-value.ts";
import { isJsonObject, maxLevels, setOwn } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { toBigint, toDate } from "./wire-forms.ts";
import {
  anyPlan,
  codedKinds,
  declaresField,
  fitLevels,
  fitsPlan,
  isPair,
  planOfItem,
  planOfProperty,
} from "./wire-plan.ts";
import type { ListPlan, MapPlan, RecordPlan, UnionPlan, WirePlan } from "./wire-plan.ts";

/**
 * Writes values as JSON and reads them back. `decode` never runs a schema: a part that does not look like its wire form stays as it
 * is, so that validation reports it.
 */
export interface WireCodec {
  /**
   * Writes a validated value. Parts that are JSON already are shared with the input, so neither side may be mutated
   * while the other is in use.
   *
   * @throws SurfaceError `UNSERIALISABLE`, naming the path.
   */
  encode(value: unknown): JsonValue;
  /** Reads a value off the wire. Parts without a wire form are shared with the input. Never throws. */
  decode(json: JsonValue): unknown;
  /** Returns the JSON text of {@link encode}, in one step where the schema says that the value is JSON at every level. */
  stringify(value: unknown): string;
}

/**
 * The codec of a member without a schema: JSON values and dates, undefined properties dropped as JSON drops them,
 * undefined itself written as null. Throws `UNSERIALISABLE` for any other value that JSON would lose.
 */
export const anyCodec: WireCodec = {
  encode: encodeUnknown,
  decode: (json) => json,
  stringify: (value) => JSON.stringify(encodeUnknown(value)),
};

function encodeUnknown(value: unknown): JsonValue {
  return value === undefined ? null : encodeAny(value, createWalkPath());
}

/** A codec of values without a wrapper. */
export interface BareCodec extends WireCodec {
  /** Drops the fields of a value off the wire that closed objects do not declare. Never throws. */
  prune(json: JsonValue): JsonValue;
}

/** Returns the codec of values under the key `value`. An undefined value is an absent key. */
export function wrapCodec(bare: WireCodec): WireCodec {
  return {
    encode: (value) => (value === undefined ? {} : { value: bare.encode(value) }),
    decode(json) {
      const value = isJsonObject(json) && Object.hasOwn(json, "value") ? json["value"] : undefined;
      return value === undefined ? undefined : bare.decode(value);
    },
    stringify: (value) => (value === undefined ? "{}" : `{"value":${bare.stringify(value)}}`),
  };
}

/** The codec of a schema. The first value compiles its plan: most tools of a large server are never called. */
export class SchemaCodec implements BareCodec {
  readonly #document: SchemaDocument;
  /** Whether a validated value of a plain plan is written by one bare `JSON.stringify`. */
  readonly #isTrusted: boolean;
  #plan: WirePlan | undefined;

  constructor(document: SchemaDocument, options: { readonly isTrusted: boolean; readonly isResolved: boolean }) {
    this.#document = document;
    this.#isTrusted = options.isTrusted;
    // A reference that does not resolve is an error at startup, and not in a call.
    if (!options.isResolved) this.#planned();
  }

  encode(value: unknown): JsonValue {
    return encodePlanned(this.#planned(), value, createWalkPath());
  }

  decode(json: JsonValue): unknown {
    return decodePlanned(this.#planned(), json);
  }

  prune(json: JsonValue): JsonValue {
    return prunePlanned(this.#planned(), json);
  }

  stringify(value: unknown): string {
    if (this.#isTrusted && this.#planned().plain) {
      try {
        // Undefined for a function or a symbol, which the schema excludes.
        const text: string | undefined = JSON.stringify(value);
        if (text !== undefined) return text;
      } catch {
        // A value that does not fit its schema: the walk below names the path.
      }
    }
    return JSON.stringify(this.encode(value));
  }

  #planned(): WirePlan {
    return (this.#plan ??= compilePlan(this.#document));
  }
}

/** Reads JSON along a plan. Returns parts that do not look like their plan as they are. Never throws. */
function decodePlanned(plan: WirePlan, json: JsonValue): unknown {
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
    const value = decodePlanned(planOfItem(plan, index), item);
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
  // Each is a pair, by the line above, and the items of JSON are JSON.
  const entries = pairs as readonly (readonly [JsonValue, JsonValue])[];
  return new Map(entries.map(([key, value]) => [decodePlanned(plan.key(), key), decodePlanned(plan.value(), value)]));
}

/**
 * Reads JSON along the first arm that fits. Arms that are themselves a date, bigint, map or set come last: a text for
 * `z.union([z.date(), z.string()])` stays a text, also if it is a date.
 */
function decodeUnion(plan: UnionPlan, json: JsonValue): unknown {
  const fits = (arm: WirePlan): boolean => fitsPlan(arm, json, { side: "wire", levels: fitLevels });
  const arm =
    plan.arms.find((candidate) => !codedKinds.has(candidate.kind) && fits(candidate)) ??
    plan.arms.find((candidate) => codedKinds.has(candidate.kind) && fits(candidate));
  return arm === undefined ? json : decodePlanned(arm, json);
}

/** Drops the fields that closed objects of a plan do not declare. Returns the value itself if there are none. Never throws. */
function prunePlanned(plan: WirePlan, json: JsonValue, depth = 0): JsonValue {
  if (typeof json !== "object" || json === null || depth > maxLevels) return json;
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
      return (index) => planOfItem(plan, index);
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
    const isDropped = plan.closed && !declaresField(plan, key);
    const pruned = isDropped ? undefined : prunePlanned(planOfProperty(plan, key), item, depth);
    if (pruned !== undefined) setOwn(copy, key, pruned);
    if (pruned !== item) isSame = false;
  }
  return isSame ? json : copy;
}

/**
 * Returns the first arm that a value fits. If it fits none, returns the arm that declares most of its fields: among the arms that
 * it fits without its undeclared fields, or else among the arms whose constants it has.
 */
function armOf({ arms }: UnionPlan, json: JsonValue): WirePlan {
  const known = arms.filter((arm) => arm.kind !== "any");
  const fits = (arm: WirePlan, isOpen: boolean): boolean =>
    fitsPlan(arm, json, { side: "wire", levels: fitLevels, isOpen });
  const exact = known.find((arm) => fits(arm, false));
  if (exact !== undefined) return exact;
  const open = known.filter((arm) => fits(arm, true));
  const possible = open.length > 0 ? open : known.filter((arm) => hasConstants(arm, json));
  return possible.toSorted((first, second) => declared(second, json) - declared(first, json))[0] ?? anyPlan;
}

function hasConstants(plan: WirePlan, json: JsonValue): boolean {
  if (plan.kind !== "record" || !isJsonObject(json)) return false;
  return [...plan.properties].every(([key, of]) => {
    const part = of();
    if (part.kind !== "scalar" || part.values === undefined || !Object.hasOwn(json, key)) return true;
    return fitsPlan(part, json[key], { side: "wire", levels: 0 });
  });
}

function declared(plan: WirePlan, json: JsonValue): number {
  if (plan.kind !== "record" || !isJsonObject(json)) return 0;
  return Object.keys(json).filter((key) => declaresField(plan, key)).length;
}
