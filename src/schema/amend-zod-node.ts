import type * as z from "zod";
import type { SchemaSide } from "./compiled-schema.ts";
import { mayBeUndefined } from "./may-be-undefined.ts";
import { toJsonData } from "./schema-node.ts";
import { toWireData } from "./to-wire-data.ts";
import { wireKey } from "./wire-forms.ts";
import type { WireForm } from "./wire-forms.ts";
import { zodInternals } from "./zod-schema.ts";

interface Amendable {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/**
 * Mends what `z.toJSONSchema` says about one node, as its `override`: defaults in their wire form, no pattern that
 * has lost its flags, no result key required that may be undefined, and a marker on values that zod lets through
 * unseen although their type is plain JSON.
 */
export function amendZodNode({ zodSchema, jsonSchema }: Amendable, side: SchemaSide): void {
  amendDefault(zodSchema, jsonSchema);
  dropFlaggedPatterns(zodSchema, jsonSchema);
  if (side === "output") dropOpenRequired(zodSchema, jsonSchema);
  const marker: WireForm = "checked";
  if (mayHoldUnseen(zodSchema)) jsonSchema[wireKey] ??= marker;
}

function dropOpenRequired(schema: z.core.$ZodTypes, json: z.core.JSONSchema.BaseSchema): void {
  const { def } = zodInternals(schema);
  if (json.required === undefined || (def.type !== "object" && def.type !== "record")) return;
  const valueOf = (key: string): unknown => (def.type === "object" ? def.shape[key] : def.valueType);
  json.required = json.required.filter((key) => !mayBeUndefined(valueOf(key)));
}

function amendDefault(schema: z.core.$ZodTypes, json: z.core.JSONSchema.BaseSchema): void {
  const value = fallbackOf(schema);
  if (value === undefined || (json.default === undefined && typeof value !== "bigint")) return;
  const wire = toWireData(value);
  if (wire === undefined) delete json.default;
  else json.default = wire;
}

/** The value that a default, prefault or catch puts in; undefined when there is none or it depends on the input. */
function fallbackOf(schema: z.core.$ZodTypes): unknown {
  const { def } = zodInternals(schema);
  if (def.type === "default" || def.type === "prefault") return def.defaultValue;
  if (def.type !== "catch") return undefined;
  try {
    // As zod's own converter does: a catch that reads its context throws here.
    return Reflect.apply(def.catchValue, undefined, [undefined]);
  } catch {
    return undefined;
  }
}

// JSON Schema patterns have no flags: `/ok/i` written as "ok" would reject what zod accepts.
function dropFlaggedPatterns(schema: z.core.$ZodTypes, json: z.core.JSONSchema.BaseSchema): void {
  if (zodInternals(schema).def.type !== "string") return;
  const flagged = new Set<unknown>(
    patternsOf(schema)
      .filter(({ flags }) => /[ims]/.test(flags))
      .map(({ source }) => source),
  );
  if (flagged.size === 0) return;
  if (flagged.has(json.pattern)) delete json.pattern;
  if (json.allOf !== undefined) json.allOf = json.allOf.filter(({ pattern }) => !flagged.has(pattern));
}

function patternsOf(schema: z.core.$ZodTypes): RegExp[] {
  const defs: unknown[] = [
    zodInternals(schema).def,
    ...(zodInternals(schema).def.checks ?? []).map((check) => zodInternals(check).def),
  ];
  return defs.flatMap((def) => {
    const pattern: unknown = typeof def === "object" && def !== null && "pattern" in def ? def.pattern : undefined;
    return pattern instanceof RegExp ? [pattern] : [];
  });
}

/** Where a validated value can hold what its JSON type does not say: undefined in an array, NaN after an overwrite. */
function mayHoldUnseen(schema: z.core.$ZodTypes): boolean {
  const { def } = zodInternals(schema);
  switch (def.type) {
    case "array":
      return mayBeUndefined(def.element);
    case "tuple":
      return [...def.items, def.rest].some((item) => mayBeUndefined(item));
    case "number":
      return (def.checks ?? []).some((check) => zodInternals(check).def.check === "overwrite");
    case "default":
    case "catch":
      return !isJson(fallbackOf(schema));
    default:
      return def.type === "file";
  }
}

function isJson(value: unknown): boolean {
  return value !== undefined && toJsonData(value) === value;
}
