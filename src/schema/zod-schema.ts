import type * as z from "zod";
import type { SchemaSide } from "./standard.ts";

/** Tells whether a value is a zod 4 schema, also of zod/mini or of another copy of zod. */
export function isZodSchema(value: unknown): value is z.core.$ZodTypes {
  if (typeof value !== "object" || value === null || !("_zod" in value)) return false;
  const { _zod: internals } = value;
  return typeof internals === "object" && internals !== null && "def" in internals;
}

/** Returns a schema's definition and flags, which zod publishes for library authors. The one place that reads `_zod`. */
export function zodInternals<TSchema extends { readonly _zod: unknown }>(schema: TSchema): TSchema["_zod"] {
  const { _zod: internals } = schema;
  return internals;
}

/** Returns the target of a lazy schema, from its own cache: its getter may create a new schema each time. */
function lazyTarget(schema: z.core.$ZodType): z.core.$ZodTypes | undefined {
  const internals = zodInternals(schema);
  return "innerType" in internals && isZodSchema(internals.innerType) ? internals.innerType : undefined;
}

// A lazy schema may refer to itself. No schema has this many wrappers.
const maxDepth = 64;
// Wrappers whose type is not that of the schema in them.
const ownForms: ReadonlySet<string> = new Set(["nullable", "success"]);
const neverAbsent: ReadonlySet<string> = new Set(["nonoptional", "default"]);
const fillsIn: ReadonlySet<string> = new Set(["default", "prefault", "catch", "transform"]);

/**
 * Tells whether a property or a tuple item of this schema may be left out, by the schema's definition. Does not read zod's `optin`
 * flag, which different minor versions set on different wrappers. From zod 4.4 on a property whose value may be undefined must be
 * present, so it does not count. A transform that comes first, as in `z.preprocess()`, may return a value for an absent property, and
 * every version of zod runs it.
 */
export function mayBeAbsent(schema: unknown, side: SchemaSide, depth = 0): boolean {
  if (!isZodSchema(schema) || depth > maxDepth) return false;
  const { def } = zodInternals(schema);
  const isFilled = fillsIn.has(def.type) && side === "input";
  if (def.type === "optional" || isFilled) return true;
  if (neverAbsent.has(def.type)) return false;
  if (def.type === "union") return def.options.some((option) => mayBeAbsent(option, side, depth + 1));
  return mayBeAbsent(decidingPart(schema, side), side, depth + 1);
}

function decidingPart(schema: z.core.$ZodTypes, side: SchemaSide): z.core.$ZodType | undefined {
  const { def } = zodInternals(schema);
  if (def.type === "nullable") return def.innerType;
  return def.type === "pipe" && side === "input" ? def.in : passedOn(schema, side);
}

/** Returns the schema of a wrapper's values on one side; undefined for a schema that is no wrapper. */
export function passedOn(schema: z.core.$ZodTypes, side: SchemaSide): z.core.$ZodType | undefined {
  const { def } = zodInternals(schema);
  // Before a preprocessing transform the schema behind it declares the values.
  if (def.type === "pipe") return side === "output" || zodInternals(def.in).def.type === "transform" ? def.out : def.in;
  return "innerType" in def && !ownForms.has(def.type) ? def.innerType : lazyTarget(schema);
}

/** Tells whether a schema, or any part of it, transforms values. */
export function isTransforming(schema: z.core.$ZodType, seen: Set<unknown> = new Set()): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { def, traits } = zodInternals(schema);
  if (traits.has("$ZodTransform") || traits.has("$ZodCodec")) return true;
  const target = lazyTarget(schema);
  const parts: unknown[] = target === undefined ? Object.values(def).flatMap(partsOf) : [target];
  return parts.some((part) => isZodSchema(part) && isTransforming(part, seen));
}

function partsOf(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null || isZodSchema(value)) return [value];
  return Object.values(value);
}

const alwaysOpen: ReadonlySet<string> = new Set([
  ...["any", "unknown", "undefined", "void", "custom", "transform", "optional"],
]);

/** Tells whether a validated value of a zod schema may be undefined. On the wire such a property is absent. */
export function mayBeUndefined(schema: unknown, depth = 0): boolean {
  if (!isZodSchema(schema) || depth > maxDepth) return false;
  const { def } = zodInternals(schema);
  if (alwaysOpen.has(def.type)) return true;
  if (def.type === "literal") return def.values.includes(undefined);
  if (def.type === "union") return def.options.some((option) => mayBeUndefined(option, depth + 1));
  return def.type !== "nonoptional" && mayBeUndefined(innerOf(schema), depth + 1);
}

/** Returns the schema of a wrapper's output; of an intersection one side, since both must agree. */
function innerOf(schema: z.core.$ZodTypes): unknown {
  const { def } = zodInternals(schema);
  if (def.type === "pipe") return def.out;
  if (def.type === "intersection") return def.left;
  return "innerType" in def ? def.innerType : lazyTarget(schema);
}
