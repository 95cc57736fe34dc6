import { SurfaceError } from "../errors.ts";
import type { CompiledSchema, SchemaSide } from "./compiled-schema.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { normalise } from "./normalise.ts";
import { readStandard } from "./read-standard.ts";
import type { RawSchema } from "./read-standard.ts";
import { readZod } from "./read-zod.ts";
import { toReaderSchema } from "./reader-schema.ts";
import { createSchemaDocument } from "./schema-document.ts";
import { tidyNode } from "./schema-node.ts";
import { isZod3, standardOf, zod3Advice } from "./standard.ts";
import type { Schema } from "./standard.ts";
import { SchemaCodec } from "./wire-codec.ts";
import { wireKey } from "./wire-forms.ts";
import { isZodSchema } from "./zod-schema.ts";

const caches: Record<SchemaSide, WeakMap<Schema, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() };

/**
 * Converts one side of a schema, once.
 *
 * @param where - the member's name, for the error.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where` and, for a reference, the path; whatever went wrong in the
 *   schema's library, a stack overflow of an endless schema included, is the `cause`.
 */
export function compileSchema(schema: Schema, side: SchemaSide, where: string): CompiledSchema {
  const cached = caches[side].get(schema);
  if (cached !== undefined) return cached;
  try {
    const compiled = compile(readJsonSchema(schema, side), side);
    caches[side].set(schema, compiled);
    return compiled;
  } catch (cause) {
    throw unsupported({ side, where, cause });
  }
}

function compile(raw: RawSchema, side: SchemaSide): CompiledSchema {
  const document = createSchemaDocument(raw.document);
  const pooled = raw.rebuilds;
  const json = normalise(document, { pooled });
  // An object that may be undefined has no JSON form at the root of a result; wrapped it is an absent key.
  const wrapped = !isObjectSchema(json) || (side === "output" && raw.optional);
  const toReader = (): JsonSchema => {
    const bare = toReaderSchema(document, { pooled });
    return deepFreeze(wrapped ? bare : { type: "object", ...bare });
  };
  let reader: JsonSchema | undefined;
  const toRoot = (root: JsonObject): JsonSchema => {
    return wrapped && isAbsent(raw) ? noFields : toObjectRoot(root, { wrapped, optional: raw.optional });
  };
  return Object.freeze({
    json: deepFreeze(toRoot(json)),
    exact: () => toRoot(normalise(document, { pooled, keepsOneOf: true })),
    wrapped,
    optional: raw.optional,
    codec: Object.freeze(new SchemaCodec(document, { trusted: pooled, wrapped })),
    reader: () => (reader ??= toReader()),
  });
}

/** Tells whether nothing travels for the value, so that the object around it has no fields. */
function isAbsent({ document }: RawSchema): boolean {
  return tidyNode(document)[wireKey] === "absent";
}

function unsupported(at: { side: SchemaSide; where: string; cause: unknown }): SurfaceError {
  const { side, where, cause } = at;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const why = cause instanceof RangeError ? "it is nested too deep, or without end" : reason;
  return new SurfaceError("SCHEMA_UNSUPPORTED", `Converting the ${side} schema of ${where} to JSON Schema: ${why}`, {
    cause,
  });
}

/**
 * Gets JSON Schema out of a schema: from zod by its converter (zod/mini has no other way, and zod's own Standard JSON
 * Schema is the same converter with less to say), else from Standard JSON Schema, which is also where
 * `withJsonSchema` puts an explicit one.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` when there is none, or when the library fails, its error as `cause`.
 */
function readJsonSchema(schema: Schema, side: SchemaSide): RawSchema {
  const raw = isZodSchema(schema) ? readZod(schema, side) : readStandard(schema, side);
  if (raw !== undefined) return raw;
  if (isZod3(schema)) throw new SurfaceError("SCHEMA_UNSUPPORTED", zod3Advice);
  throw new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `schema library "${standardOf(schema).vendor}" gives no JSON Schema: ` +
      "need Standard JSON Schema (~standard.jsonSchema), zod 4, or withJsonSchema(validator, json)",
  );
}

const objectKeywords = ["properties", "patternProperties", "additionalProperties", "required"];

/** The root of a value that never travels. Closed, so that a model reads "takes nothing" and not "takes anything". */
export const noFields: JsonSchema = Object.freeze({
  type: "object",
  properties: Object.freeze({}),
  additionalProperties: false,
});

/** Tells whether every value of a normalised schema is an object: then it can be a root. */
function isObjectSchema(json: JsonObject): boolean {
  if (json["type"] !== undefined) return json["type"] === "object";
  const arms = [json["anyOf"], json["oneOf"]].filter((list) => list !== undefined);
  if (arms.some((list) => everyArm(list))) return true;
  if (Array.isArray(json["allOf"]) && json["allOf"].some((arm) => isJsonObject(arm) && isObjectSchema(arm)))
    return true;
  return arms.length === 0 && objectKeywords.some((key) => json[key] !== undefined);
}

/**
 * The root that a host accepts: an object schema says `type: "object"` itself, whatever its arms say; everything else
 * becomes the property `value` of an object, required unless it may be undefined.
 */
function toObjectRoot(json: JsonObject, options: { wrapped: boolean; optional: boolean }): JsonObject {
  if (!options.wrapped) return { type: "object", ...json };
  const required = options.optional ? {} : { required: ["value"] };
  return { type: "object", properties: { value: json }, ...required, additionalProperties: false };
}

function everyArm(list: JsonValue): boolean {
  return Array.isArray(list) && list.length > 0 && list.every((arm) => isJsonObject(arm) && isObjectSchema(arm));
}
