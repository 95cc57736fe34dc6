import { SurfaceError } from "../errors.ts";
import { deepFreeze, isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { normalise } from "./normalise.ts";
import { readStandard } from "./read-standard.ts";
import type { RawSchema } from "./read-standard.ts";
import { readZod } from "./read-zod.ts";
import { toReaderSchema } from "./reader-schema.ts";
import { SchemaDocument } from "./schema-document.ts";
import { tidyNode } from "./schema-node.ts";
import { isZod3, standardOf, zod3Advice } from "./standard.ts";
import type { Schema, SchemaSide } from "./standard.ts";
import { SchemaCodec } from "./wire-codec.ts";
import type { WireCodec } from "./wire-codec.ts";
import { wireKey } from "./wire-forms.ts";
import { isZodSchema } from "./zod-schema.ts";

/** The JSON Schema that agents see of a schema, and the wire form of its values. Immutable; one per schema and side. */
export interface CompiledSchema {
  /** Deep-frozen JSON Schema 2020-12, self-contained, root always `type: "object"`, without `$schema`. */
  readonly json: JsonSchema;
  /** Returns {@link CompiledSchema.json} with `oneOf` kept apart from `anyOf` at the root. Built at each call. */
  readonly exact: () => JsonSchema;
  /** True when the value is not an object and travels under the key `value`. The codec does the wrapping. */
  readonly wrapped: boolean;
  /** True when the value may be undefined. Nothing travels for it then, or null where something has to. */
  readonly optional: boolean;
  /** Encodes to, and decodes from, the values that {@link CompiledSchema.json} describes. */
  readonly codec: WireCodec;
  /** Returns the schema of the value without a wrapper for the readers of links, by `toReaderSchema`. Made on first use. */
  readonly reader: () => JsonSchema;
}

const caches: Record<SchemaSide, WeakMap<Schema, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() };
const objectKeywords = ["properties", "patternProperties", "additionalProperties", "required"];
/** The root of a value that never travels. Closed, so that a model reads "takes nothing" and not "takes anything". */
const noFields: JsonSchema = Object.freeze({
  type: "object",
  properties: Object.freeze({}),
  additionalProperties: false,
});
/** Decoding drops the fields that a host adds. */
const noInput: CompiledSchema = Object.freeze({
  json: noFields,
  exact: () => noFields,
  wrapped: false,
  optional: true,
  codec: Object.freeze({ encode: () => ({}), decode: () => undefined, prune: () => ({}), stringify: () => "{}" }),
  reader: () => noFields,
});

/** Compiles the arguments of a member: an agent sends them. See {@link compileSchema}. */
export function toInputSchema(schema: Schema | undefined, where: string): CompiledSchema {
  return schema === undefined ? noInput : compileSchema(schema, "input", where);
}

/** Compiles the result of a member. Undefined stays undefined: use `anyCodec` for its values. See {@link compileSchema}. */
export function toOutputSchema(schema: Schema | undefined, where: string): CompiledSchema | undefined {
  return schema === undefined ? undefined : compileSchema(schema, "output", where);
}

/**
 * Converts one side of a schema. Cached by schema: converting twice is free.
 *
 * @param where - the member's name, for the error.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where` and, for a reference, the path. Its `cause` is the error of the
 *   schema's library, also a stack overflow of an endless schema.
 */
export function compileSchema(schema: Schema, side: SchemaSide, where: string): CompiledSchema {
  const cached = caches[side].get(schema);
  if (cached !== undefined) return cached;
  try {
    const compiled = compile(readJsonSchema(schema, side), side);
    caches[side].set(schema, compiled);
    return compiled;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const why = cause instanceof RangeError ? "it is nested too deep, or without end" : reason;
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `Converting the ${side} schema of ${where} to JSON Schema: ${why}`, {
      cause,
    });
  }
}

function compile(raw: RawSchema, side: SchemaSide): CompiledSchema {
  const document = new SchemaDocument(raw.document);
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

/** Reads JSON Schema from zod's definition, or from Standard JSON Schema, where `withJsonSchema` puts an explicit one. */
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
 * Returns a root that hosts accept. An object schema gets `type: "object"`, also beside arms that have it. Any other schema becomes
 * the property `value` of an object, required unless it may be undefined.
 */
function toObjectRoot(json: JsonObject, options: { wrapped: boolean; optional: boolean }): JsonObject {
  if (!options.wrapped) return { type: "object", ...json };
  const required = options.optional ? {} : { required: ["value"] };
  return { type: "object", properties: { value: json }, ...required, additionalProperties: false };
}

function everyArm(list: JsonValue): boolean {
  return Array.isArray(list) && list.length > 0 && list.every((arm) => isJsonObject(arm) && isObjectSchema(arm));
}
